"""Resize an image with bilinear interpolation; the corners of both images coincide."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel


@kernel
def bilinear_resize(image, out, y_ratio, x_ratio):
    j, i = cuda.grid(2)
    rows, columns = image.shape
    if i < out.shape[0] and j < out.shape[1]:
        y = float32(i) * y_ratio
        x = float32(j) * x_ratio
        top, left = int(y), int(x)
        bottom, right = min(top + 1, rows - 1), min(left + 1, columns - 1)
        dy, dx = y - float32(top), x - float32(left)
        upper = image[top, left] * (float32(1) - dx) + image[top, right] * dx
        lower = image[bottom, left] * (float32(1) - dx) + image[bottom, right] * dx
        out[i, j] = upper * (float32(1) - dy) + lower * dy


def problem(scale: int) -> Problem:
    rows, columns, height, width = 405 * scale, 720, 972 * scale, 1728
    image = np.random.default_rng(16).random((rows, columns), np.float32)
    y_ratio, x_ratio = (rows - 1.001) / (height - 1), (columns - 1.001) / (width - 1)
    out = np.zeros((height, width), np.float32)
    arguments = image, out, np.float32(y_ratio), np.float32(x_ratio)
    grid = blocks(width, 16), blocks(height, 16)
    # rounding of coordinates up to 2000 moves the samples
    return Problem(arguments, grid, (16, 16), results=(1,), tolerance=1e-3)
