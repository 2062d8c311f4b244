"""Pi by Monte Carlo: the share of random points of a square that lie in its quarter circle.

The same estimate twice: with states that the threads keep in an array, and with numbers that are a
function of the thread's index. Each thread draws its own points and counts; the counts of a block
are added in shared memory, and one thread adds the sum to the total.
"""

from __future__ import annotations

import math

import numpy as np
from report import blocks, checked, parser, show

from pycu2c import cuda, device, int64, kernel
from pycu2c.cuda.random import (
    init_xoroshiro128p_states,
    philox_uniform_float32x4,
    xoroshiro128p_dtype,
    xoroshiro128p_uniform_float32,
)

BLOCK = 256
ROUNDS = 500  # of a thread; two points each
SEED = 2024


@device
def add_up(count, total):
    """Add the counts of a block's threads to the total."""
    counts = cuda.shared.array(BLOCK, int64)
    tid = cuda.threadIdx.x
    counts[tid] = count
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            counts[tid] += counts[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        cuda.atomic.add(total, 0, counts[0])


def with_states(states, total):
    """Kernel: each call of a generator changes the thread's state."""
    i = cuda.grid(1)
    inside = 0
    for _ in range(2 * ROUNDS):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        inside += x * x + y * y < 1
    add_up(inside, total)


def without_states(seed, total):
    """Kernel: the k-th four numbers of the thread's sequence."""
    i = cuda.grid(1)
    inside = 0
    for k in range(ROUNDS):
        x, y, z, w = philox_uniform_float32x4(seed, i, k)
        inside += (x * x + y * y < 1) + (z * z + w * w < 1)
    add_up(inside, total)


def main(arguments: list[str] | None = None) -> None:
    options = parser(__doc__, size=1 << 26, meaning="points")
    given = options.parse_args(arguments)
    grid = blocks(given.size, 2 * ROUNDS * BLOCK)
    points = 2 * ROUNDS * BLOCK * grid
    compiled = kernel(block=(BLOCK,), backend=given.backend)
    by_state, by_index = compiled(with_states), compiled(without_states)

    totals = np.zeros((2, 1), np.int64)
    states = np.zeros(BLOCK * grid, xoroshiro128p_dtype)
    init_xoroshiro128p_states(states, SEED)
    by_state[grid, BLOCK](states, totals[0])
    by_index[grid, BLOCK](SEED, totals[1])
    show(by_state, by_index)

    deviation = math.sqrt(math.pi * (4 - math.pi) / points)  # of an estimate
    for name, (inside,) in zip(("xoroshiro128+", "Philox"), totals):
        estimate = 4 * inside / points
        print(f"{name}: {points} points, pi is about {estimate:.6f}")
        checked(f"pi by {name}", abs(estimate - np.pi), 5 * deviation)


if __name__ == "__main__":
    main()
