"""Ternaries, `and` and `or` give values; comparisons chain; the right side may not be read."""

import numpy as np

from pycu2c import cuda, float32, int32, kernel

SIGNATURES = {
    "f32": (float32[::1], int32[::1], float32[::1]),
    "strided": (float32[:], int32[:], float32[:]),
}


@kernel
def value_logic(data, where, out):
    i = cuda.grid(1)
    if i >= len(where):
        return
    place = where[i]
    known = 0 <= place < len(data) and data[place] != 0
    value = data[place] if known else -1.0
    either = (known and data[place]) or 0.5
    sign = 1 if value > 0 else -1 if value < 0 else 0
    out[i] = value + (either or 7.0) + sign + (not known)


def case(rng, variant):
    data = rng.integers(-2, 3, 60).astype(np.float32)
    where = rng.integers(-5, 40, 80).astype(np.int32)
    if variant == "strided":
        data, where = data[::-1], where[::2]
    return 2, 64, (data, where, np.zeros(where.size, np.float32))
