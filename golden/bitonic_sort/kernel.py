"""Sorts each block's elements: barriers inside two nested loops."""

import numpy as np

from pycu2c import cuda, float32, kernel

BLOCK = 32

SIGNATURES = {"f32": (float32[::1],)}


@kernel(block=(BLOCK,))
def bitonic_sort(data):
    mine = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    mine[tid] = data[i]
    cuda.syncthreads()

    size = 2
    while size <= BLOCK:
        stride = size // 2
        while stride > 0:
            partner = tid ^ stride
            if partner > tid:
                a = mine[tid]
                b = mine[partner]
                ascending = (tid & size) == 0
                if (a > b) == ascending:
                    mine[tid] = b
                    mine[partner] = a
            cuda.syncthreads()
            stride //= 2
        size *= 2

    data[i] = mine[tid]


def case(rng, variant):
    return 3, BLOCK, (rng.permutation(3 * BLOCK).astype(np.float32),)
