"""The halves of a warp go their own ways, and meet among themselves."""

import numpy as np

from pycu2c import cuda, kernel


@kernel
def warp_halves(a, out):
    i = cuda.grid(1)
    x = a[i]
    if cuda.laneid < 16:
        for step in (8, 4, 2, 1):
            x += cuda.shfl_xor_sync(0x0000FFFF, x, step)
    elif cuda.any_sync(0xFFFF0000, x > 40):
        x = cuda.reduce_max_sync(0xFFFF0000, x)
    out[i] = x


SIGNATURES = {"i32": "void(int32[::1], int32[::1])"}


def case(rng, variant):
    return 2, 64, [rng.integers(-50, 50, 128).astype(np.int32), np.zeros(128, np.int32)]
