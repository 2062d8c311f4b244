"""Deposit of charge on a grid (particle in cell, bilinear), one thread for each particle."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def particle_deposit(xs, ys, charges, density):
    p = cuda.grid(1)
    if p < xs.size:
        x = xs[p]
        y = ys[p]
        i = int(x)
        j = int(y)
        fx = x - i
        fy = y - j
        q = charges[p]
        cuda.atomic.add(density, (j, i), q * (1 - fx) * (1 - fy))
        cuda.atomic.add(density, (j, i + 1), q * fx * (1 - fy))
        cuda.atomic.add(density, (j + 1, i), q * (1 - fx) * fy)
        cuda.atomic.add(density, (j + 1, i + 1), q * fx * fy)


def problem(scale: int) -> Problem:
    rng, n, ny, nx = np.random.default_rng(1), 2**17 * scale, 256 * scale, 256
    xs = rng.uniform(0, nx - 1.01, n).astype(np.float32)
    ys = rng.uniform(0, ny - 1.01, n).astype(np.float32)
    arguments = xs, ys, rng.random(n, np.float32), np.zeros((ny, nx), np.float32)
    return Problem(arguments, (blocks(n),), (256,), results=(3,))
