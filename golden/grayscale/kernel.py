"""Bytes in, bytes out, and wider arithmetic between: int() leaves uint8."""

import numpy as np

from pycu2c import cuda, kernel, uint8

SIGNATURES = {
    "u8": (uint8[:, :, ::1], uint8[:, ::1]),
    "strided": (uint8[:, :, :], uint8[:, :]),
}


@kernel(block=(16, 16))
def grayscale(rgb, gray):
    x, y = cuda.grid(2)
    if x < gray.shape[1] and y < gray.shape[0]:
        red = int(rgb[y, x, 0])
        green = int(rgb[y, x, 1])
        blue = int(rgb[y, x, 2])
        gray[y, x] = uint8((77 * red + 150 * green + 29 * blue) >> 8)


def case(rng, variant):
    rgb = rng.integers(0, 256, (19, 21, 3)).astype(np.uint8)
    if variant == "strided":
        rgb = rgb[::2, ::-1]
    return (2, 2), (16, 16), (rgb, np.zeros(rgb.shape[:2], np.uint8))
