"""Tiles of shared memory, a signature, a two-dimensional grid."""

import math

import numba
import numpy as np
from numba import cuda, float32

SIDE = 8


@cuda.jit("void(float32[:, :], float32[:, :], float32[:, :])")
def product(a, b, c):
    ours = cuda.shared.array(shape=(SIDE, SIDE), dtype=float32)
    theirs = cuda.shared.array(shape=(SIDE, SIDE), dtype=numba.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for tile in range((a.shape[1] + SIDE - 1) // SIDE):
        ours[tx, ty] = 0
        theirs[tx, ty] = 0
        if x < a.shape[0] and ty + tile * SIDE < a.shape[1]:
            ours[tx, ty] = a[x, ty + tile * SIDE]
        if y < b.shape[1] and tx + tile * SIDE < b.shape[0]:
            theirs[tx, ty] = b[tx + tile * SIDE, y]
        cuda.syncthreads()
        for k in range(SIDE):
            total += ours[tx, k] * theirs[k, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = total


a = np.arange(12 * 20, dtype=np.float32).reshape(12, 20) % 7
b = np.arange(20 * 9, dtype=np.float32).reshape(20, 9) % 5
c = cuda.device_array((12, 9), dtype=np.float32)
block = (SIDE, SIDE)
grid = (math.ceil(12 / SIDE), math.ceil(9 / SIDE))
product[grid, block](cuda.to_device(a), cuda.to_device(b), c)
found = c.copy_to_host()
print(found.tolist(), np.array_equal(found, a @ b))
