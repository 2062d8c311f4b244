"""The strength of edges; a thread loads its own pixel, threads at the rim the halo as well."""

import math

import numpy as np

from pycu2c import cuda, float32, kernel

TILE = 8

SIGNATURES = {"f32": (float32[:, ::1], float32[:, ::1])}


@kernel(block=(TILE, TILE))
def sobel(image, out):
    tile = cuda.shared.array((TILE + 2, TILE + 2), dtype=float32)
    height, width = image.shape[0], image.shape[1]
    left, top = cuda.blockIdx.x * TILE - 1, cuda.blockIdx.y * TILE - 1

    for row in range(cuda.threadIdx.y, TILE + 2, TILE):
        for column in range(cuda.threadIdx.x, TILE + 2, TILE):
            inside_y = min(max(top + row, 0), height - 1)
            inside_x = min(max(left + column, 0), width - 1)
            tile[row, column] = image[inside_y, inside_x]
    cuda.syncthreads()

    x, y = cuda.grid(2)
    if x >= width or y >= height:
        return
    r, c = cuda.threadIdx.y, cuda.threadIdx.x
    across = tile[r, c + 2] + 2.0 * tile[r + 1, c + 2] + tile[r + 2, c + 2]
    across -= tile[r, c] + 2.0 * tile[r + 1, c] + tile[r + 2, c]
    down = tile[r + 2, c] + 2.0 * tile[r + 2, c + 1] + tile[r + 2, c + 2]
    down -= tile[r, c] + 2.0 * tile[r, c + 1] + tile[r, c + 2]
    out[y, x] = math.sqrt(across * across + down * down)


def case(rng, variant):
    image = rng.random((21, 18)).astype(np.float32)
    return (3, 3), (TILE, TILE), (image, np.zeros_like(image))
