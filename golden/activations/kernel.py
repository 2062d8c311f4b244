"""numpy's functions on numbers: some are operators in C, some functions of C, some helpers."""

import math

import numpy as np

from pycu2c import cuda, float32, int32, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[:, ::1]),
    "i32": (int32[::1], int32[:, ::1]),
}


@kernel
def activations(x, out):
    i = cuda.grid(1)
    if i < len(x):
        value = x[i]
        out[0, i] = np.maximum(value, 0)
        out[1, i] = np.where(value > 0, value, np.multiply(value, 2))
        out[2, i] = np.clip(value, -1, 1)
        out[3, i] = np.sign(value)
        out[4, i] = np.square(np.add(value, 1))
        out[5, i] = math.floor(value)
        out[6, i] = round(value, -1)


def case(rng, variant):
    dtype = {"f32": np.float32, "i32": np.int32}[variant]
    data = (rng.random(70) * 40 - 20).astype(dtype)
    return 2, 64, (data, np.zeros((7, 70), dtype))
