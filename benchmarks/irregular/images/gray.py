"""The luminance of an RGB image with the color on the last axis."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel, uint8


@kernel
def gray(rgb, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        red, green, blue = rgb[i, j, 0], rgb[i, j, 1], rgb[i, j, 2]
        out[i, j] = uint8(float32(0.299) * red + float32(0.587) * green + float32(0.114) * blue)


def problem(scale: int) -> Problem:
    height, width = 1080 * scale, 1920
    rgb = np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)
    arguments = rgb, np.zeros((height, width), np.uint8)
    grid = blocks(width, 32), blocks(height, 8)
    # rounding may change the integer part by 1
    return Problem(arguments, grid, (32, 8), results=(1,), tolerance=1 / 250)
