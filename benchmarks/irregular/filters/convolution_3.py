"""Convolve an image with a filter of 3 x 3 weights; indices are clamped to the image."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def convolution_3(image, weights, out):
    j, i = cuda.grid(2)
    rows, columns = image.shape
    if i < rows and j < columns:
        total = float32(0)
        for di in range(3):
            for dj in range(3):
                row = min(max(i + di - 1, 0), rows - 1)
                column = min(max(j + dj - 1, 0), columns - 1)
                total += weights[di, dj] * image[row, column]
        out[i, j] = total


def problem(scale: int) -> Problem:
    rng, rows, columns = np.random.default_rng(21), 1080 * scale, 1920
    image, weights = rng.random((rows, columns), np.float32), rng.random((3, 3), np.float32)
    arguments = image, weights, np.zeros_like(image)
    return Problem(arguments, (blocks(columns, 16), blocks(rows, 16)), (16, 16), results=(2,))
