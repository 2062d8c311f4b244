"""A reduction in shared memory, warps, dynamic shared memory, cuda.reduce."""

import numpy as np
from numba import cuda, float32, int64


@cuda.jit
def block_sums(data, sums):
    tile = cuda.shared.array(32, int64)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    tile[tid] = data[i] if i < data.size else 0
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if tid < step:
            tile[tid] += tile[tid + step]
        cuda.syncthreads()
        step //= 2
    if tid == 0:
        sums[cuda.blockIdx.x] = tile[0]


@cuda.jit
def rotated(a):
    tile = cuda.shared.array(0, dtype=float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    cuda.syncthreads()
    a[i] = tile[(i + 1) % cuda.blockDim.x]


@cuda.jit
def histogram(values, bins):
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, values.size, step):
        cuda.atomic.add(bins, values[i] % bins.size, 1)


@cuda.reduce
def total(a, b):
    return a + b


largest = cuda.reduce(lambda a, b: a if a > b else b)

data = np.arange(100)
sums = np.zeros(4, dtype=np.int64)
block_sums[4, 32](data, sums)
print(sums.tolist(), sums.sum() == data.sum())
a = np.arange(16, dtype=np.float32)
rotated[1, 16, 0, 16 * 4](a)
print(a.tolist())
bins = np.zeros(7, dtype=np.int32)
histogram[2, 16](data, bins)
print(bins.tolist())
print(
    total(data), total(data, init=5), total(data, size=10), largest(data), total(data[:0], init=3)
)
