"""The greatest element of each block, and where the first one is."""

import numpy as np

from pycu2c import cuda, float32, int32, kernel

BLOCK = 64

SIGNATURES = {
    "f32": (float32[::1], float32[::1], int32[::1]),
}


@kernel(block=(BLOCK,))
def block_max(data, best, place):
    value = cuda.shared.array(BLOCK, float32)
    where = cuda.shared.array(BLOCK, int32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    value[tid] = data[min(i, len(data) - 1)]
    where[tid] = min(i, len(data) - 1)
    cuda.syncthreads()

    step = BLOCK >> 1
    while step:
        if tid < step and value[tid] < value[tid + step]:
            value[tid] = max(value[tid], value[tid + step])
            where[tid] = where[tid + step]
        cuda.syncthreads()
        step >>= 1

    if tid == 0:
        best[cuda.blockIdx.x] = value[0]
        place[cuda.blockIdx.x] = where[0]


def case(rng, variant):
    data = rng.permutation(150).astype(np.float32)
    return 3, BLOCK, (data, np.zeros(3, np.float32), np.zeros(3, np.int32))
