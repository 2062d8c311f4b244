"""Convert an RGB image to YUV with 8 bits for each channel."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, float32, kernel, uint8


@kernel
def rgb_to_yuv(rgb, yuv):
    j, i = cuda.grid(2)
    if i < rgb.shape[0] and j < rgb.shape[1]:
        r, g, b = float32(rgb[i, j, 0]), float32(rgb[i, j, 1]), float32(rgb[i, j, 2])
        y = float32(0.299) * r + float32(0.587) * g + float32(0.114) * b
        u = float32(0.492) * (b - y) + float32(128)
        v = float32(0.877) * (r - y) + float32(128)
        yuv[i, j, 0] = uint8(y)
        yuv[i, j, 1] = uint8(min(max(u, float32(0)), float32(255)))
        yuv[i, j, 2] = uint8(min(max(v, float32(0)), float32(255)))


def problem(scale: int) -> Problem:
    height, width = 720 * scale, 1280
    rgb = np.random.default_rng(20).integers(0, 256, (height, width, 3), np.uint8)
    grid = blocks(width, 32), blocks(height, 8)
    # rounding may change the integer part by 1
    return Problem((rgb, np.zeros_like(rgb)), grid, (32, 8), results=(1,), tolerance=1 / 250)
