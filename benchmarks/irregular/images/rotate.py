"""Rotate an image about its center with bilinear interpolation; pixels outside of it are 0."""

from __future__ import annotations

import math

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, int32, kernel


@kernel
def rotate(image, out, cosine, sine):
    j, i = cuda.grid(2)
    rows, columns = image.shape
    if i >= rows or j >= columns:
        return
    dy, dx = float32(i - rows // 2), float32(j - columns // 2)
    y = cosine * dy - sine * dx + float32(rows // 2)
    x = sine * dy + cosine * dx + float32(columns // 2)
    top, left = int32(math.floor(y)), int32(math.floor(x))
    if top < 0 or top >= rows - 1 or left < 0 or left >= columns - 1:
        out[i, j] = 0.0
        return
    fy, fx = y - float32(top), x - float32(left)
    upper = image[top, left] + (image[top, left + 1] - image[top, left]) * fx
    lower = image[top + 1, left] + (image[top + 1, left + 1] - image[top + 1, left]) * fx
    out[i, j] = upper + (lower - upper) * fy


def problem(scale: int) -> Problem:
    rows, columns = 810 * scale, 1440
    image = np.zeros((rows, columns), np.float32)
    # a border of 0, so that rounding does not decide whether a sample is inside
    image[1:-1, 1:-1] = np.random.default_rng(17).random((rows - 2, columns - 2), np.float32)
    cosine, sine = np.float32(math.cos(0.3)), np.float32(math.sin(0.3))
    arguments = image, np.ones_like(image), cosine, sine
    grid = blocks(columns, 16), blocks(rows, 16)
    # rounding of coordinates up to 5000 moves the samples
    return Problem(arguments, grid, (16, 16), results=(1,), tolerance=4e-3)
