"""An index below zero counts from the end: a constant, a dynamic one, a proved one."""

import numpy as np

from pycu2c import cuda, float32, int32, kernel

SIGNATURES = {
    "f32": (float32[::1], int32[::1], float32[::1]),
    "strided": (float32[:], int32[:], float32[:]),
}


@kernel
def negative_index(data, shift, out):
    i = cuda.grid(1)
    if i < len(out):
        last = data[-1]
        mirrored = data[-1 - i]
        before = data[i - 1]
        moved = data[shift[i]]
        inner = data[i - 1] if i > 0 else data[0]
        out[i - len(out)] = 16 * last + 8 * mirrored + 4 * before + 2 * moved + inner


def case(rng, variant):
    data = rng.integers(0, 100, 50).astype(np.float32)
    shift = rng.integers(-50, 50, 50).astype(np.int32)
    if variant == "strided":
        data, shift = data[::-1], shift[::1]
    return 1, 64, (data, shift, np.zeros(50, np.float32))
