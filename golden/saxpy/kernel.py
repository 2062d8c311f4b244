"""y = a * x + y: a guarded one-dimensional kernel, contiguous, strided and with a Python float."""

import numpy as np

from pycu2c import cuda, float32, float64, kernel

SIGNATURES = {
    "f32": (float32, float32[::1], float32[::1]),
    "f64": (float64, float64[::1], float64[::1]),
    "strided": (float32, float32[:], float32[:]),
    "weak": (float, float32[::1], float32[::1]),
}


@kernel
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < len(y):
        y[i] = a * x[i] + y[i]


def case(rng, variant):
    dtype = np.float64 if variant == "f64" else np.float32
    x, y = rng.random(200).astype(dtype), rng.random(200).astype(dtype)
    if variant == "strided":
        x, y = x[::2], y[1::2]
    a = 2.5 if variant == "weak" else dtype(2.5)
    return 4, 64, (a, x, y)
