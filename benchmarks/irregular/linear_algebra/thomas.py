"""Many tridiagonal systems by the Thomas algorithm, one thread for each system.

Arrays are (rows, systems). ``upper`` and ``right`` are overwritten; ``right`` is the solution.
"""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def thomas(lower, middle, upper, right):
    n, systems = right.shape
    s = cuda.grid(1)
    if s < systems:
        upper[0, s] /= middle[0, s]
        right[0, s] /= middle[0, s]
        for i in range(1, n):
            scale = 1 / (middle[i, s] - lower[i, s] * upper[i - 1, s])
            upper[i, s] *= scale
            right[i, s] = (right[i, s] - lower[i, s] * right[i - 1, s]) * scale
        for i in range(n - 2, -1, -1):
            right[i, s] -= upper[i, s] * right[i + 1, s]


def problem(scale: int) -> Problem:
    rng, n, systems = np.random.default_rng(1), 64, 2**14 * scale
    lower, upper, right = (rng.random((n, systems), np.float32) for _ in range(3))
    middle = 3 + rng.random((n, systems), np.float32)
    arguments = lower, middle, upper, right
    return Problem(arguments, (blocks(systems),), (256,), results=(2, 3))
