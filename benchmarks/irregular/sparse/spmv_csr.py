"""y = A x for a sparse matrix in rows (CSR), one thread for each row."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def spmv_csr(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def problem(scale: int) -> Problem:
    rng, rows = np.random.default_rng(1), 2**17 * scale
    starts = np.zeros(rows + 1, np.int32)
    starts[1:] = np.cumsum(rng.integers(4, 29, rows))
    count = int(starts[-1])
    columns = rng.integers(0, rows, count, np.int32)
    values, x = rng.random(count, np.float32), rng.random(rows, np.float32)
    arguments = starts, columns, values, x, np.zeros(rows, np.float32)
    return Problem(arguments, (blocks(rows),), (256,), results=(4,))
