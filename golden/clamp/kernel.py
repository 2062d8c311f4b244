"""Device functions that call each other and return early."""

import numpy as np

from pycu2c import cuda, device, float32, int32, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[::1], float32, float32),
    "i32": (int32[::1], int32[::1], int32, int32),
}


@device
def clamped(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@device
def smooth(value, low, high):
    return clamped(value, low, high) * clamped(high - value, low, high)


@kernel
def clamp(data, out, low, high):
    i = cuda.grid(1)
    if i < len(data):
        out[i] = smooth(data[i], low, high)


def case(rng, variant):
    dtype = {"f32": np.float32, "i32": np.int32}[variant]
    data = (rng.random(70) * 20 - 10).astype(dtype)
    return 2, 64, (data, np.zeros_like(data), dtype(-3), dtype(4))
