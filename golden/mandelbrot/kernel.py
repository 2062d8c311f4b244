"""How fast each point escapes: a loop that threads leave at different times."""

import numpy as np

from pycu2c import cuda, float32, float64, int32, kernel

LIMIT = 40

SIGNATURES = {
    "f32": (int32[:, ::1], float32, float32, float32),
    "f64": (int32[:, ::1], float64, float64, float64),
}


@kernel
def mandelbrot(out, left, top, step):
    x, y = cuda.grid(2)
    if x >= out.shape[1] or y >= out.shape[0]:
        return
    cr = left + step * x
    ci = top + step * y
    zr = 0.0
    zi = 0.0
    count = 0
    while count < LIMIT and zr * zr + zi * zi < 4.0:
        following = zr * zr - zi * zi + cr
        zi = 2.0 * zr * zi + ci
        zr = following
        count += 1
    out[y, x] = count


def case(rng, variant):
    dtype = {"f32": np.float32, "f64": np.float64}[variant]
    place = dtype(-2.1), dtype(-1.3), dtype(0.11)
    return (4, 3), (8, 8), (np.zeros((24, 29), np.int32), *place)
