"""An image, turned about its middle: a texture gives the pixels between pixels, and what is
outside."""

import numpy as np

from pycu2c import cuda, float32, kernel, types

SIGNATURES = {
    "f32": (types.texture2d[float32], float32, float32, float32[:, ::1]),
    "u8": (types.texture2d[types.uint8], float32, float32, types.uint8[:, ::1]),
}


@kernel(block=(8, 8), weak_float="float32")
def rotate(image, cos, sin, out):
    x, y = cuda.grid(2)
    height, width = out.shape
    if x < width and y < height:
        u = x + 0.5 - width / 2
        v = y + 0.5 - height / 2
        out[y, x] = cuda.tex2D(image, cos * u - sin * v + width / 2, sin * u + cos * v + height / 2)


def case(rng, variant):
    image = rng.integers(0, 255, (20, 28)).astype(np.float32 if variant == "f32" else np.uint8)
    t = cuda.texture(image, "border", "linear" if variant == "f32" else "point", border=7)
    cos, sin = np.float32(0.75), np.float32(0.625)  # of few bits: no place is rounded
    return (4, 3), (8, 8), (t, cos, sin, np.zeros_like(image))
