"""Mirror an image; also reads a view with negative strides."""

import numpy as np

from pycu2c import cuda, kernel, uint8

SIGNATURES = {
    "u8": (uint8[:, ::1], uint8[:, ::1]),
    "strided": (uint8[:, :], uint8[:, :]),
}


@kernel
def flip(image, out):
    x, y = cuda.grid(2)
    height, width = image.shape[0], image.shape[1]
    if x < width and y < height:
        out[y, x] = image[height - 1 - y, width - 1 - x]


def case(rng, variant):
    image = rng.integers(0, 256, (17, 22)).astype(np.uint8)
    if variant == "strided":
        image = image[::-1, ::-2]
    return (3, 3), (8, 8), (image, np.zeros(image.shape, np.uint8))
