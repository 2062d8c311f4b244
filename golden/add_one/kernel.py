"""The smallest kernel: an int literal takes the type of the element beside it."""

import numpy as np

from pycu2c import cuda, float32, int8, kernel

SIGNATURES = {
    "f32": (float32[:], float32[:]),
    "i8": (int8[::1], int8[::1]),
}


@kernel
def add_one(arr, out):
    i = cuda.grid(1)
    if i < len(arr):
        out[i] = arr[i] + 1


def case(rng, variant):
    dtype = {"f32": np.float32, "i8": np.int8}[variant]
    arr = np.arange(78, 178).astype(np.uint8).view(np.int8).astype(dtype)
    return 1, 128, (arr, np.zeros_like(arr))
