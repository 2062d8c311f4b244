"""Gravity between all pairs, positions fetched tile by tile into shared memory."""

import math

import numpy as np

from pycu2c import cuda, float32, kernel

BLOCK = 32
SOFTENING = 1e-3

SIGNATURES = {"f32": (float32[:, ::1], float32[::1], float32[:, ::1])}


@kernel(block=(BLOCK,))
def nbody(position, mass, acceleration):
    tile = cuda.shared.array((BLOCK, 4), float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    n = len(mass)
    mine = min(i, n - 1)
    px = position[mine, 0]
    py = position[mine, 1]
    pz = position[mine, 2]
    ax = 0.0
    ay = 0.0
    az = 0.0

    for start in range(0, n, BLOCK):
        other = min(start + tid, n - 1)
        for axis in range(3):
            tile[tid, axis] = position[other, axis]
        tile[tid, 3] = mass[other] if start + tid < n else 0
        cuda.syncthreads()
        for k in range(BLOCK):
            dx = tile[k, 0] - px
            dy = tile[k, 1] - py
            dz = tile[k, 2] - pz
            inverse = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            pull = tile[k, 3] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()

    if i < n:
        acceleration[i, 0] = ax
        acceleration[i, 1] = ay
        acceleration[i, 2] = az


def case(rng, variant):
    position = rng.random((50, 3)).astype(np.float32)
    mass = rng.random(50).astype(np.float32)
    return 2, BLOCK, (position, mass, np.zeros_like(position))
