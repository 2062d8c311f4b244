"""How many steps a number needs to reach 1."""

import numpy as np

from pycu2c import cuda, int32, int64, kernel

SIGNATURES = {
    "i64": (int64[::1], int32[::1], int),
    "i32": (int32[::1], int32[::1], int),
}


@kernel
def collatz(numbers, steps, limit):
    i = cuda.grid(1)
    if i >= len(numbers):
        return
    n = numbers[i]
    taken = 0
    while n != 1 and taken < limit:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        taken += 1
    steps[i] = taken


def case(rng, variant):
    dtype = {"i64": np.int64, "i32": np.int32}[variant]
    numbers = rng.integers(1, 5000, 60).astype(dtype)
    return 2, 32, (numbers, np.zeros(60, np.int32), 100)
