"""The median of nine pixels, by insertion into a local array."""

import numpy as np

from pycu2c import cuda, float32, kernel, uint8

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1]),
    "u8": (uint8[:, ::1], uint8[:, ::1]),
}


@kernel(block=(8, 8))
def median(image, out):
    window = cuda.local.array(9, float32)
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= image.shape[1] - 1 or y >= image.shape[0] - 1:
        return
    filled = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            pixel = image[y + dy, x + dx]
            place = filled
            while place > 0 and window[place - 1] > pixel:
                window[place] = window[place - 1]
                place -= 1
            window[place] = pixel
            filled += 1
    out[y, x] = window[4]


def case(rng, variant):
    dtype = {"f32": np.float32, "u8": np.uint8}[variant]
    image = rng.integers(0, 256, (14, 19)).astype(dtype)
    return (3, 2), (8, 8), (image, np.zeros_like(image))
