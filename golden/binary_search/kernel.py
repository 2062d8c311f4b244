"""Where each needle would stand in a sorted array, as numpy.searchsorted says."""

import numpy as np

from pycu2c import cuda, float32, int32, int64, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[::1], int64[::1]),
    "i32": (int32[:], int32[:], int64[::1]),
}


@kernel
def binary_search(ordered, needles, places):
    i = cuda.grid(1)
    if i >= len(needles):
        return
    low = 0
    high = len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < needles[i]:
            low = middle + 1
        else:
            high = middle
    places[i] = low


def case(rng, variant):
    dtype = {"f32": np.float32, "i32": np.int32}[variant]
    ordered = np.sort(rng.integers(0, 500, 77)).astype(dtype)
    needles = rng.integers(-10, 510, 100).astype(dtype)
    return 2, 64, (ordered, needles, np.zeros(100, np.int64))
