"""A 5x5 weighted mean; the block keeps its tile and a halo of two in shared memory."""

import numpy as np

from pycu2c import cuda, float32, kernel

TILE = 8
RADIUS = 2
EXTENT = TILE + 2 * RADIUS

SIGNATURES = {"f32": (float32[:, ::1], float32[::1], float32[:, ::1])}


@kernel(block=(TILE, TILE))
def blur(image, weights, out):
    tile = cuda.shared.array((EXTENT, EXTENT), float32)
    height, width = image.shape[0], image.shape[1]
    left = cuda.blockIdx.x * TILE - RADIUS
    top = cuda.blockIdx.y * TILE - RADIUS

    for row in range(cuda.threadIdx.y, EXTENT, TILE):
        for column in range(cuda.threadIdx.x, EXTENT, TILE):
            y = min(max(top + row, 0), height - 1)
            x = min(max(left + column, 0), width - 1)
            tile[row, column] = image[y, x]
    cuda.syncthreads()

    x, y = cuda.grid(2)
    if x < width and y < height:
        total = 0.0
        for dy in range(2 * RADIUS + 1):
            for dx in range(2 * RADIUS + 1):
                weight = weights[dy] * weights[dx]
                total += weight * tile[cuda.threadIdx.y + dy, cuda.threadIdx.x + dx]
        out[y, x] = total


def case(rng, variant):
    image = rng.random((20, 29)).astype(np.float32)
    weights = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)
    return (4, 3), (TILE, TILE), (image, weights, np.zeros_like(image))
