"""One level of a sparse triangular solve: rows that depend only on rows of earlier levels."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def triangular_solve(level, starts, columns, values, diagonal, b, x):
    i = cuda.grid(1)
    if i < level.shape[0]:
        row = level[i]
        total = b[row]
        for k in range(starts[row], starts[row + 1]):
            total -= values[k] * x[columns[k]]
        x[row] = total / diagonal[row]


def problem(scale: int) -> Problem:
    rng, rows = np.random.default_rng(5), 2**17 * scale
    solved = rows // 4
    starts = np.zeros(rows + 1, np.int32)
    starts[1:] = np.cumsum(rng.integers(2, 20, rows))
    count = int(starts[-1])
    columns = rng.integers(0, solved, count, np.int32)
    values = rng.random(count, np.float32) - np.float32(0.5)
    diagonal = rng.uniform(4, 8, rows).astype(np.float32)
    b, x = rng.random(rows, np.float32), np.zeros(rows, np.float32)
    x[:solved] = rng.random(solved, np.float32)
    level = np.sort(rng.permutation(np.arange(solved, rows, dtype=np.int32))[: rows // 2])
    arguments = level, starts, columns, values, diagonal, b, x
    return Problem(arguments, (blocks(level.size),), (256,), results=(6,))
