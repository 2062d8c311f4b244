"""The prefix sums of the rows of an image, the first pass of an integral image."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, int32, kernel


@kernel
def image_integral(image, sums, height, width):
    i = cuda.grid(1)
    if i < height:
        total = int32(0)
        for j in range(width):
            total += image[i, j]
            sums[i, j] = total


def problem(scale: int) -> Problem:
    height, width = 2048 * scale, 2048
    image = np.random.default_rng(19).integers(0, 256, (height, width), np.uint8)
    sums = np.zeros((height, width), np.int32)
    arguments = image, sums, np.int32(height), np.int32(width)
    return Problem(arguments, (blocks(height, 64),), (64,), results=(1,))
