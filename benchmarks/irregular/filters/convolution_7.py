"""Convolve a flat image with 7 x 7 weights; the result has no border."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel

RADIUS = 3
SIZE = 2 * RADIUS + 1


@kernel
def convolution_7(image, weights, out, rows, columns):
    j, i = cuda.grid(2)
    if i >= RADIUS and i < rows - RADIUS and j >= RADIUS and j < columns - RADIUS:
        total = float32(0)
        for di in range(-RADIUS, RADIUS + 1):
            for dj in range(-RADIUS, RADIUS + 1):
                weight = weights[(di + RADIUS) * SIZE + dj + RADIUS]
                total += weight * image[(i + di) * columns + j + dj]
        out[i * columns + j] = total


def problem(scale: int) -> Problem:
    rng, rows, columns = np.random.default_rng(23), np.int32(540 * scale), np.int32(960)
    image, weights = rng.random(rows * columns, np.float32), rng.random(SIZE**2, np.float32)
    arguments = image, weights, np.zeros_like(image), rows, columns
    return Problem(arguments, (blocks(960, 16), blocks(int(rows), 16)), (16, 16), results=(2,))
