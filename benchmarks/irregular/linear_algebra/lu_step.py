"""One step of an LU decomposition: the rank-1 update, one thread for each trailing element.

Column ``step`` already has the multipliers.
"""

from __future__ import annotations

import math

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def lu_step(a, step):
    x, y = cuda.grid(2)
    n = a.shape[0]
    i = step + 1 + y
    j = step + 1 + x
    if i < n and j < n:
        a[i, j] -= a[i, step] * a[step, j]


def problem(scale: int) -> Problem:
    n = math.isqrt(2**21 * scale)
    a, step = np.random.default_rng(1).random((n, n)), n // 8
    rest = n - step - 1
    grid = blocks(rest, 32), blocks(rest, 8)
    return Problem((a, step), grid, (32, 8), results=(0,))
