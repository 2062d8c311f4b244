"""float32 times int32 is float64, as in NumPy, and is cut when it is stored."""

import numpy as np

from pycu2c import cuda, float32, int32, kernel

SIGNATURES = {
    "i32": (float32[:], float32[:], int32),
    "int": (float32[:], float32[:], int),
}


@kernel
def scale(arr, out, factor):
    i = cuda.grid(1)
    if i < len(arr):
        out[i] = arr[i] * factor


def case(rng, variant):
    arr = rng.random(60).astype(np.float32)
    factor = 3 if variant == "int" else np.int32(3)
    return 1, 64, (arr, np.zeros_like(arr), factor)
