"""A block counts in shared memory first and adds its counts once."""

import numpy as np

from pycu2c import cuda, int32, kernel, uint8

BINS = 32

SIGNATURES = {"u8": (uint8[::1], int32[::1])}


@kernel
def histogram_shared(data, counts):
    mine = cuda.shared.array(BINS, int32)
    tid = cuda.threadIdx.x
    for b in range(tid, BINS, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()

    for i in range(cuda.grid(1), len(data), cuda.gridsize(1)):
        cuda.atomic.add(mine, data[i] >> 3, 1)
    cuda.syncthreads()

    for b in range(tid, BINS, cuda.blockDim.x):
        if mine[b] > 0:
            cuda.atomic.add(counts, b, mine[b])


def case(rng, variant):
    data = rng.integers(0, 256, 900).astype(np.uint8)
    return 3, 24, (data, np.zeros(BINS, np.int32))
