"""Inclusive prefix sums of each block, after Hillis and Steele."""

import numpy as np

from pycu2c import cuda, int32, kernel

BLOCK = 64

SIGNATURES = {"i32": (int32[::1], int32[::1])}


@kernel(block=(BLOCK,))
def scan(data, out):
    sums = cuda.shared.array(BLOCK, int32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    sums[tid] = data[i] if i < len(data) else 0
    cuda.syncthreads()

    distance = 1
    while distance < BLOCK:
        addend = 0
        if tid >= distance:
            addend = sums[tid - distance]
        cuda.syncthreads()
        sums[tid] += addend
        cuda.syncthreads()
        distance *= 2

    if i < len(out):
        out[i] = sums[tid]


def case(rng, variant):
    data = rng.integers(0, 100, 150).astype(np.int32)
    return 3, BLOCK, (data, np.zeros_like(data))
