"""y = A x for a sparse matrix in ELLPACK format, stored by columns; short rows have column -1."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def spmv_ell(columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column >= 0:
                total += values[k, row] * x[column]
        y[row] = total


def problem(scale: int) -> Problem:
    rng, rows, width = np.random.default_rng(2), 2**17 * scale, 16
    columns = rng.integers(0, rows, (width, rows), np.int32)
    columns[np.arange(width)[:, None] >= rng.integers(4, width + 1, rows)] = -1
    values, x = rng.random((width, rows), np.float32), rng.random(rows, np.float32)
    arguments = columns, values, x, np.zeros(rows, np.float32)
    return Problem(arguments, (blocks(rows),), (256,), results=(3,))
