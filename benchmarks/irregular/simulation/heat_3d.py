"""One explicit step of heat conduction in three dimensions, one thread for each cell."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def heat_3d(u, out, alpha):
    k, j, i = cuda.grid(3)
    nz, ny, nx = u.shape
    if i < nz and j < ny and k < nx:
        center = u[i, j, k]
        if i == 0 or i == nz - 1 or j == 0 or j == ny - 1 or k == 0 or k == nx - 1:
            out[i, j, k] = center
        else:
            out[i, j, k] = center + alpha * (
                u[i - 1, j, k]
                + u[i + 1, j, k]
                + u[i, j - 1, k]
                + u[i, j + 1, k]
                + u[i, j, k - 1]
                + u[i, j, k + 1]
                - 6 * center
            )


def problem(scale: int) -> Problem:
    nz, ny, nx = 128 * scale, 128, 128
    u = np.random.default_rng(1).random((nz, ny, nx), np.float32)
    arguments = u, np.zeros_like(u), np.float32(0.1)
    grid = blocks(nx, 32), blocks(ny, 4), blocks(nz, 2)
    return Problem(arguments, grid, (32, 4, 2), results=(1,))
