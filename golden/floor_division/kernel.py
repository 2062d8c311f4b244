"""// and % floor, also for negative numbers and for floats; a zero divisor of integers gives 0."""

import numpy as np

from pycu2c import cuda, float32, int8, int32, kernel

SIGNATURES = {
    "i32": (int32[::1], int32[::1], int32[::1], int32[::1]),
    "i8": (int8[::1], int8[::1], int8[::1], int8[::1]),
    "f32": (float32[::1], float32[::1], float32[::1], float32[::1]),
}


@kernel
def floor_division(a, b, quotient, remainder):
    i = cuda.grid(1)
    if i < len(a):
        quotient[i] = a[i] // b[i] + i % 3
        remainder[i] = a[i] % b[i]


def case(rng, variant):
    dtype = {"i32": np.int32, "i8": np.int8, "f32": np.float32}[variant]
    a = rng.integers(-100, 101, 90).astype(dtype)
    b = rng.integers(-7, 8, 90).astype(dtype)
    if variant == "f32":
        b[b == 0] = 0.5
    return 3, 32, (a, b, np.zeros_like(a), np.zeros_like(a))
