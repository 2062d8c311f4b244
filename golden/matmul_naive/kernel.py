"""One thread, one element, one dot product."""

import numpy as np

from pycu2c import cuda, float32, float64, kernel

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1], float32[:, ::1]),
    "f64": (float64[:, ::1], float64[:, ::1], float64[:, ::1]),
    "strided": (float32[:, :], float32[:, :], float32[:, :]),
}


@kernel
def matmul_naive(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def case(rng, variant):
    dtype = np.float64 if variant == "f64" else np.float32
    a, b = rng.random((13, 9)).astype(dtype), rng.random((9, 17)).astype(dtype)
    if variant == "strided":
        b = np.asfortranarray(b)
    return (3, 2), (8, 8), (a, b, np.zeros((13, 17), dtype))
