"""Gather elements of an array at indices in any order."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def gather(source, indices, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = source[indices[i]]


def problem(scale: int) -> Problem:
    rng, count = np.random.default_rng(12), 2**21 * scale
    indices = rng.integers(0, count, count, np.int32)
    arguments = rng.random(count, np.float32), indices, np.zeros(count, np.float32), count
    return Problem(arguments, (blocks(count),), (256,), results=(2,))
