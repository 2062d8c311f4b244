"""A constant exponent: the square of a float, a cube of an int."""

import numpy as np

from pycu2c import cuda, float32, int32, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[::1], float32[::1]),
    "i32": (int32[::1], int32[::1], int32[::1]),
}


@kernel(grid=(100,), block=(256,))
def power_of_two(data, squares, cubes):
    i = cuda.grid(1)
    if i < len(data):
        squares[i] = data[i] ** 2
        cubes[i] = data[i] ** 3


def case(rng, variant):
    dtype = {"f32": np.float32, "i32": np.int32}[variant]
    data = rng.integers(-1000, 1000, 50).astype(dtype)
    return 1, 64, (data, np.zeros_like(data), np.zeros_like(data))
