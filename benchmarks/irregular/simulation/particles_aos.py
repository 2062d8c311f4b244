"""Particles that fall and bounce in a box, as rows of x, y and z, one thread for each particle."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def particles_aos(p, v, gravity, dt):
    i = cuda.grid(1)
    if i < p.shape[0]:
        v[i, 2] -= gravity * dt
        for axis in range(3):
            p[i, axis] += v[i, axis] * dt
            if p[i, axis] < 0:
                p[i, axis] = -p[i, axis]
                v[i, axis] = -v[i, axis]
            elif p[i, axis] > 1:
                p[i, axis] = 2 - p[i, axis]
                v[i, axis] = -v[i, axis]


def problem(scale: int) -> Problem:
    rng, n = np.random.default_rng(1), 2**19 * scale
    p = rng.random((n, 3), np.float32)
    v = rng.standard_normal((n, 3), np.float32)
    arguments = p, v, np.float32(9.81), np.float32(0.01)
    return Problem(arguments, (blocks(n),), (256,), results=(0, 1))
