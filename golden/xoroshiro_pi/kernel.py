"""Points of a quarter circle, drawn by xoroshiro128+, each thread with a state of its own."""

import numpy as np

from pycu2c import cuda, float32, kernel
from pycu2c.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_type,
    xoroshiro128p_uniform_float32,
)

SIGNATURES = {"f32": (xoroshiro128p_type[::1], int, float32[::1])}


@kernel
def xoroshiro_pi(states, draws, out):
    i = cuda.grid(1)
    if i < len(out):
        inside = 0
        for _ in range(draws):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y <= 1.0:
                inside += 1
        out[i] = 4.0 * inside / draws


def case(rng, variant):
    states = create_xoroshiro128p_states(90, seed=1).copy_to_host()
    return 3, 32, (states, 20, np.zeros(90, np.float32))
