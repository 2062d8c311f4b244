"""Scatter the rows of a table to other rows; each target row is written once."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def scatter(source, targets, out):
    i = cuda.grid(1)
    if i < source.shape[0]:
        for j in range(source.shape[1]):
            out[targets[i], j] = source[i, j]


def problem(scale: int) -> Problem:
    rng, rows = np.random.default_rng(13), 2**19 * scale
    source = rng.random((rows, 4), np.float32)
    targets = rng.permutation(np.arange(rows, dtype=np.int32))
    arguments = source, targets, np.zeros((rows, 4), np.float32)
    return Problem(arguments, (blocks(rows),), (256,), results=(2,))
