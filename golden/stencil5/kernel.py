"""One step of heat flow: the edges stay as they are."""

import numpy as np

from pycu2c import cuda, float32, float64, kernel

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1], float32),
    "f64": (float64[:, ::1], float64[:, ::1], float64),
}


@kernel
def stencil5(u, out, rate):
    x, y = cuda.grid(2)
    height, width = u.shape[0], u.shape[1]
    if x >= width or y >= height:
        return
    if 0 < x < width - 1 and 0 < y < height - 1:
        around = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]
        out[y, x] = u[y, x] + rate * (around - 4.0 * u[y, x])
    else:
        out[y, x] = u[y, x]


def case(rng, variant):
    dtype = {"f32": np.float32, "f64": np.float64}[variant]
    u = rng.random((19, 30)).astype(dtype)
    return (4, 3), (8, 8), (u, np.zeros_like(u), dtype(0.2))
