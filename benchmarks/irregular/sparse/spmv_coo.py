"""y = A x for a sparse matrix of coordinates (COO), one thread for each entry."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def spmv_coo(rows, columns, values, x, y, count):
    k = cuda.grid(1)
    if k < count:
        cuda.atomic.add(y, rows[k], values[k] * x[columns[k]])


def problem(scale: int) -> Problem:
    rng, size, count = np.random.default_rng(3), 2**15 * scale, 2**18 * scale
    rows, columns = rng.integers(0, size, (2, count), np.int32)
    values, x = rng.random(count, np.float32), rng.random(size, np.float32)
    arguments = rows, columns, values, x, np.zeros(size, np.float32), np.int32(count)
    return Problem(arguments, (blocks(count),), (256,), results=(4,))
