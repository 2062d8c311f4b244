"""Particles in the field of a central mass, an array for each component, one thread for each."""

from __future__ import annotations

import math

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def particles_soa(x, y, z, vx, vy, vz, mass, dt, n):
    i = cuda.grid(1)
    if i >= n:
        return
    square = x[i] ** 2 + y[i] ** 2 + z[i] ** 2 + 0.01
    pull = mass * dt / (square * math.sqrt(square))
    vx[i] -= pull * x[i]
    vy[i] -= pull * y[i]
    vz[i] -= pull * z[i]
    x[i] += vx[i] * dt
    y[i] += vy[i] * dt
    z[i] += vz[i] * dt


def problem(scale: int) -> Problem:
    rng, n = np.random.default_rng(1), 2**20 * scale
    arrays = [rng.standard_normal(n, np.float32) for _ in range(6)]
    arguments = *arrays, np.float32(0.1), np.float32(0.01), np.int32(n)
    return Problem(arguments, (blocks(n),), (256,), results=(0, 1, 2, 3, 4, 5))
