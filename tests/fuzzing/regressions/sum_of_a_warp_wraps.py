"""Seed 816298 on narrowed: the sum of a warp's int32 goes beyond its type, and wraps."""

import numpy as np
from pycu2c import cuda, kernel


@kernel
def fuzzed(a, out):
    t = cuda.threadIdx.x
    out[t] = cuda.reduce_add_sync(0xFFFFFFFF, a[t])


GRID, BLOCK = (1, 1, 1), (32, 1, 1)
APPROXIMATE = []


def arguments():
    return (np.full(32, 2**31 - 1, np.int32), np.zeros(32, np.int32))
