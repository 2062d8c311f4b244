"""Through a padded tile, so that reads and writes both run along rows."""

import numpy as np

from pycu2c import cuda, float32, kernel

TILE = 8

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1]),
    "strided": (float32[:, :], float32[:, :]),
}


@kernel(block=(TILE, TILE))
def transpose(data, out):
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    if y < data.shape[0] and x < data.shape[1]:
        tile[ty, tx] = data[y, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[tx, ty]


def case(rng, variant):
    data = rng.random((19, 26)).astype(np.float32)
    if variant == "strided":
        data = data[:, ::2]
    return (4, 3), (TILE, TILE), (data, np.zeros(data.shape[::-1], np.float32))
