"""Element by element, for several dtypes: unsigned bytes wrap."""

import numpy as np

from pycu2c import cuda, float32, int32, kernel, uint8

SIGNATURES = {
    "f32": (float32[::1], float32[::1], float32[::1]),
    "i32": (int32[::1], int32[::1], int32[::1]),
    "u8": (uint8[::1], uint8[::1], uint8[::1]),
}


@kernel(grid=(256,), block=(128,))
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a[i] + b[i]


def case(rng, variant):
    dtype = {"f32": np.float32, "i32": np.int32, "u8": np.uint8}[variant]
    a, b = (rng.integers(0, 256, 100).astype(dtype) for _ in range(2))
    return 2, 64, (a, b, np.zeros_like(a))
