"""round() halves to even; int(), math.floor and math.ceil give ints; trunc is int()."""

import math

import numpy as np

from pycu2c import cuda, float32, float64, int64, kernel

SIGNATURES = {
    "f32": (float32[::1], int64[:, ::1]),
    "f64": (float64[::1], int64[:, ::1]),
}


@kernel
def rounding(data, out):
    i = cuda.grid(1)
    if i >= len(data):
        return
    value = data[i]
    out[i, 0] = round(value)
    out[i, 1] = int(value)
    out[i, 2] = math.floor(value)
    out[i, 3] = math.ceil(value)
    out[i, 4] = round(float(value) * 2) + bool(value)


def case(rng, variant):
    dtype = {"f32": np.float32, "f64": np.float64}[variant]
    data = np.concatenate([np.arange(-8, 8.5, 0.5), rng.normal(0, 50, 30)]).astype(dtype)
    return 2, 32, (data, np.zeros((data.size, 5), np.int64))
