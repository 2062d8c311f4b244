"""The median of 3 x 3 pixels; pixels of the border are copied."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel, uint8


@kernel
def median_3x3(image, out):
    j, i = cuda.grid(2)
    height, width = image.shape
    if i >= height or j >= width:
        return
    if i == 0 or j == 0 or i == height - 1 or j == width - 1:
        out[i, j] = image[i, j]
        return
    window = cuda.local.array(9, uint8)
    for k in range(9):
        window[k] = image[i + k // 3 - 1, j + k % 3 - 1]
    for k in range(1, 9):
        value = window[k]
        m = k - 1
        while m >= 0 and window[m] > value:
            window[m + 1] = window[m]
            m -= 1
        window[m + 1] = value
    out[i, j] = window[4]


def problem(scale: int) -> Problem:
    height, width = 320 * scale, 480
    image = np.random.default_rng(18).integers(0, 256, (height, width), np.uint8)
    arguments = image, np.zeros_like(image)
    return Problem(arguments, (blocks(width, 32), blocks(height, 8)), (32, 8), results=(1,))
