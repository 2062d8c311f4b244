"""A Jacobi iteration of Poisson's equation on a flat array, one thread for each point."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def jacobi(u, source, out, nx, ny):
    j, i = cuda.grid(2)
    if 0 < i < ny - 1 and 0 < j < nx - 1:
        k = i * nx + j
        out[k] = 0.25 * (u[k - 1] + u[k + 1] + u[k - nx] + u[k + nx] - source[k])


def problem(scale: int) -> Problem:
    rng, nx, ny = np.random.default_rng(1), 1024, 1024 * scale
    u, source = rng.random(nx * ny), rng.random(nx * ny)
    arguments = u, source, np.zeros(nx * ny), np.int32(nx), np.int32(ny)
    return Problem(arguments, (blocks(nx, 32), blocks(ny, 8)), (32, 8), results=(2,))
