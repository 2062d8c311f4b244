"""Bits set in a word, three ways that agree."""

import numpy as np

from pycu2c import cuda, int32, kernel, uint32, uint64

SIGNATURES = {
    "u32": (uint32[::1], int32[:, ::1]),
    "u64": (uint64[::1], int32[:, ::1]),
}


@kernel
def popcount(words, out):
    i = cuda.grid(1)
    if i >= len(words):
        return
    rest = words[i]
    cleared = 0
    while rest != 0:
        rest &= rest - 1
        cleared += 1
    shifted = 0
    for bit in range(64):
        shifted += int((words[i] >> bit) & 1)
    missing = 0
    rest = ~words[i]
    while rest:
        missing += int(rest & 1)
        rest >>= 1
    out[i, 0] = cleared
    out[i, 1] = shifted
    out[i, 2] = missing


def case(rng, variant):
    dtype, bits = {"u32": (np.uint32, 32), "u64": (np.uint64, 63)}[variant]
    words = rng.integers(0, 1 << bits, 40).astype(dtype)
    words[0] = 0
    return 2, 32, (words, np.zeros((40, 3), np.int32))
