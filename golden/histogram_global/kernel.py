"""Every thread counts straight into global memory."""

import numpy as np

from pycu2c import cuda, int32, int64, kernel, uint8

SIGNATURES = {
    "u8": (uint8[::1], int32[::1]),
    "i64": (int64[::1], int32[::1]),
}


@kernel
def histogram_global(data, counts):
    i = cuda.grid(1)
    if i < len(data):
        cuda.atomic.add(counts, data[i] % len(counts), 1)


def case(rng, variant):
    dtype = {"u8": np.uint8, "i64": np.int64}[variant]
    low = -1000 if variant == "i64" else 0
    data = rng.integers(low, 256, 400).astype(dtype)
    return 7, 64, (data, np.zeros(10, np.int32))
