"""Two dimensions, the first thread axis along the rows."""

import numpy as np

from pycu2c import cuda, float32, kernel

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1], float32[:, ::1]),
    "strided": (float32[:, :], float32[:, :], float32[:, :]),
}


@kernel(block=(16, 16))
def matrix_add(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = a[i, j] + b[i, j]


def case(rng, variant):
    a, b = rng.random((2, 20, 27)).astype(np.float32)
    if variant == "strided":
        a, b = np.asfortranarray(a), b[:, ::-1]
    return (3, 4), (8, 8), (a, b, np.zeros((20, 27), np.float32))
