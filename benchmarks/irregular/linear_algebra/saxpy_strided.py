"""y = a x + y in a grid-stride loop."""

from __future__ import annotations

import numpy as np

from irregular import Problem
from pycu2c import cuda, kernel


@kernel
def saxpy_strided(n, a, x, y):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, n, stride):
        y[i] = a * x[i] + y[i]


def problem(scale: int) -> Problem:
    rng, n = np.random.default_rng(1), 2**22 * scale
    arguments = np.int32(n), np.float32(2.5), rng.random(n, np.float32), rng.random(n, np.float32)
    return Problem(arguments, (512,), (256,), results=(3,))
