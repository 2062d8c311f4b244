"""A histogram of points in the unit square, one thread for each point."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, int32, kernel


@kernel
def histogram_2d(xs, ys, counts):
    i = cuda.grid(1)
    if i < xs.size:
        rows, columns = counts.shape
        row = min(int32(ys[i] * rows), rows - 1)
        column = min(int32(xs[i] * columns), columns - 1)
        cuda.atomic.add(counts, (row, column), 1)


def problem(scale: int) -> Problem:
    rng, count = np.random.default_rng(11), 2**19 * scale
    xs, ys = rng.beta(3, 5, (2, count)).astype(np.float32)
    arguments = xs, ys, np.zeros((256, 256), np.int32)
    return Problem(arguments, (blocks(count),), (256,), results=(2,))
