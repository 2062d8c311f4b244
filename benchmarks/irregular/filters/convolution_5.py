"""Convolve an image with a filter of any size, here 5 x 5; pixels outside of it are skipped."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def convolution_5(image, weights, out):
    j, i = cuda.grid(2)
    if i >= image.shape[0] or j >= image.shape[1]:
        return
    i_offset, j_offset = weights.shape[0] // 2, weights.shape[1] // 2
    total = float32(0)
    for k in range(weights.shape[0]):
        for m in range(weights.shape[1]):
            row, column = i + k - i_offset, j + m - j_offset
            if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
                total += weights[k, m] * image[row, column]
    out[i, j] = total


def problem(scale: int) -> Problem:
    rng, rows, columns = np.random.default_rng(22), 400 * scale, 640
    image, weights = rng.random((rows, columns), np.float32), rng.random((5, 5), np.float32)
    arguments = image, weights, np.zeros_like(image)
    return Problem(arguments, (blocks(columns, 32), blocks(rows, 8)), (32, 8), results=(2,))
