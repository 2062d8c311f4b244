"""Horner's rule over coefficients in a two-dimensional local array."""

import numpy as np

from pycu2c import cuda, float64, kernel

DEGREE = 5

SIGNATURES = {"f64": (float64[::1], float64[:, ::1])}


@kernel
def polynomial(points, out):
    coefficient = cuda.local.array((2, DEGREE + 1), float64)
    i = cuda.grid(1)
    if i >= len(points):
        return
    for k in range(DEGREE + 1):
        coefficient[0, k] = 1.0 / (k + 1)
        coefficient[1, k] = (k - 2) * 0.25
    for row in range(2):
        value = 0.0
        for k in range(DEGREE, -1, -1):
            value = value * points[i] + coefficient[row, k]
        out[row, i] = value


def case(rng, variant):
    points = rng.random(50)
    return 2, 32, (points, np.zeros((2, 50)))
