"""Kernels without annotations are clean in the default mode of mypy and in pyright's basic one."""

import numpy as np

from pycu2c import cuda, device, float32, kernel


@device
def half(x):
    return x / 2


@device()
def twice(x):
    return x * 2


@kernel
def whole(x, out, n):
    i, j = cuda.grid(2)
    if i < n:
        out[i] = half(twice(x[i])) + float32(j)


@kernel("void(float32[:], int32)", block=32, fastmath=True)
def typed(x, n):
    tile = cuda.shared.array(32, dtype=float32)
    tile[cuda.threadIdx.x] = x[n]
    cuda.syncthreads()
    cuda.atomic.add(x, 0, tile[0])


values = np.zeros(8, np.float32)
whole[1, 32](values, values, np.int32(8))
typed[1, 32](values, 3)
print(whole.inspect("c"), half(3.0))
