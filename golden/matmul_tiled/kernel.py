"""Matrix product through 16x16 tiles in shared memory; any size, guarded."""

import numpy as np

from pycu2c import cuda, float32, kernel

TILE = 16

SIGNATURES = {"f32": (float32[:, ::1], float32[:, ::1], float32[:, ::1])}


@kernel(block=(TILE, TILE))
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    inner = a.shape[1]

    total = float32(0)
    for start in range(0, inner, TILE):
        if row < a.shape[0] and start + tx < inner:
            tile_a[ty, tx] = a[row, start + tx]
        else:
            tile_a[ty, tx] = 0
        if start + ty < inner and column < b.shape[1]:
            tile_b[ty, tx] = b[start + ty, column]
        else:
            tile_b[ty, tx] = 0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()

    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def case(rng, variant):
    a, b = rng.random((21, 37)).astype(np.float32), rng.random((37, 18)).astype(np.float32)
    return (2, 2), (TILE, TILE), (a, b, np.zeros((21, 18), np.float32))
