"""An image as one long array: pixels at ``y * width + x``, neighbours clamped by a function."""

import numpy as np

from pycu2c import cuda, device, float32, kernel

SIGNATURES = {"f32": (float32[::1], float32[::1], int, int)}


@device
def clamped(position, length):
    return min(max(position, 0), length - 1)


@kernel(block=(8, 8))
def flat_index(pixels, out, width, height):
    x, y = cuda.grid(2)
    here = y * width + x
    if x < width and y < height:
        above = clamped(y - 1, height) * width + x
        total = pixels[here] + pixels[above]
        for dx in range(-1, 2):
            total += pixels[y * width + clamped(x + dx, width)]
        out[here] = total


def case(rng, variant):
    pixels = rng.integers(0, 256, 14 * 19).astype(np.float32)
    return (3, 2), (8, 8), (pixels, np.zeros_like(pixels), 19, 14)
