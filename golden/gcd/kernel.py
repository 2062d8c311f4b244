"""Euclid's algorithm in a device function that assigns its parameters."""

import numpy as np

from pycu2c import cuda, device, int64, kernel, uint32

SIGNATURES = {
    "i64": (int64[::1], int64[::1], int64[::1]),
    "u32": (uint32[::1], uint32[::1], uint32[::1]),
}


@device
def greatest_common_divisor(a, b):
    while b != 0:
        rest = a % b
        a = b
        b = rest
    return abs(a)


@kernel
def gcd(a, b, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = greatest_common_divisor(a[i], b[i])


def case(rng, variant):
    dtype = {"i64": np.int64, "u32": np.uint32}[variant]
    low = -1000 if variant == "i64" else 0
    a, b = (rng.integers(low, 1000, 60).astype(dtype) for _ in range(2))
    return 2, 32, (a, b, np.zeros_like(a))
