"""One step of a D2Q9 lattice Boltzmann fluid around obstacles, one thread for each cell."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel

CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1], np.int32)
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1], np.int32)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6], np.int32)
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)


@kernel
def lattice_boltzmann(f, solid, out, omega):
    x, y = cuda.grid(2)
    ny, nx = solid.shape
    if x < nx and y < ny:
        streamed = cuda.local.array(9, float32)
        density = float32(0)
        ux = float32(0)
        uy = float32(0)
        for q in range(9):
            value = f[q, (y - CY[q]) % ny, (x - CX[q]) % nx]
            streamed[q] = value
            density += value
            ux += float32(CX[q]) * value
            uy += float32(CY[q]) * value
        if solid[y, x]:
            for q in range(9):
                out[q, y, x] = streamed[OPPOSITE[q]]
        else:
            ux /= density
            uy /= density
            square = 1.5 * (ux * ux + uy * uy)
            for q in range(9):
                along = 3 * (float32(CX[q]) * ux + float32(CY[q]) * uy)
                equilibrium = WEIGHTS[q] * density * (1 + along + 0.5 * along * along - square)
                out[q, y, x] = streamed[q] + omega * (equilibrium - streamed[q])


def problem(scale: int) -> Problem:
    rng, ny, nx = np.random.default_rng(1), 512 * scale, 512
    f = (WEIGHTS[:, None, None] * rng.uniform(0.9, 1.1, (9, ny, nx))).astype(np.float32)
    solid = (rng.random((ny, nx)) < 0.05).astype(np.uint8)
    arguments = f, solid, np.zeros_like(f), np.float32(1.2)
    return Problem(arguments, (blocks(nx, 32), blocks(ny, 8)), (32, 8), results=(2,))
