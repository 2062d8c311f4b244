"""Points of a quarter circle, drawn by a linear congruential generator; integers throughout."""

import numpy as np

from pycu2c import cuda, device, int32, kernel, uint32

SIGNATURES = {"u32": (uint32[::1], int32[::1], int)}

RADIUS = 1 << 15


@device
def stepped(state):
    return state * 1664525 + 1013904223


@kernel
def monte_carlo(states, hits, draws):
    i = cuda.grid(1)
    if i >= len(states):
        return
    state = states[i]
    inside = 0
    for _ in range(draws):
        state = stepped(state)
        x = state >> 17
        state = stepped(state)
        y = state >> 17
        if x * x + y * y < RADIUS * RADIUS:
            inside += 1
    states[i] = state
    hits[i] = inside


def case(rng, variant):
    states = rng.integers(0, 1 << 32, 64).astype(np.uint32)
    return 2, 32, (states, np.zeros(64, np.int32), 50)
