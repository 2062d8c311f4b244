"""The same iteration from each point, by a device function with a loop and two exits."""

import numpy as np

from pycu2c import cuda, device, float32, kernel, uint8

LIMIT = 32

SIGNATURES = {"f32": (uint8[:, ::1], float32, float32)}


@device
def escape_time(zr, zi, cr, ci):
    for count in range(LIMIT):
        square_r = zr * zr
        square_i = zi * zi
        if square_r + square_i > 4.0:
            return count
        zi = 2.0 * zr * zi + ci
        zr = square_r - square_i + cr
    return LIMIT


@kernel
def julia(out, cr, ci):
    x, y = cuda.grid(2)
    height, width = out.shape[0], out.shape[1]
    if x < width and y < height:
        zr = float32(x - width / 2) * 3.0 / width
        zi = float32(y - height / 2) * 3.0 / height
        out[y, x] = escape_time(zr, zi, cr, ci)


def case(rng, variant):
    out = np.zeros((22, 25), np.uint8)
    return (4, 3), (8, 8), (out, np.float32(-0.7), np.float32(0.27))
