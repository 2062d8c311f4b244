"""The length of each run of equal values at its first element, one thread for each element."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def run_length(values, lengths):
    i = cuda.grid(1)
    n = values.size
    if i < n:
        if i == 0 or values[i] != values[i - 1]:
            end = i + 1
            while end < n and values[end] == values[i]:
                end += 1
            lengths[i] = end - i
        else:
            lengths[i] = 0


def problem(scale: int) -> Problem:
    rng, n = np.random.default_rng(1), 2**20 * scale
    runs = rng.geometric(0.1, n)
    values = np.repeat(rng.integers(0, 256, n, np.uint8), runs)[:n]
    return Problem((values, np.zeros(n, np.int32)), (blocks(n),), (256,), results=(1,), tolerance=0)
