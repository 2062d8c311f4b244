"""Threads past the end leave before the barrier; the rest still meet."""

import numpy as np

from pycu2c import cuda, float32, kernel

BLOCK = 32

SIGNATURES = {"f32": (float32[::1], float32[::1])}


@kernel(block=(BLOCK,))
def early_return(data, out):
    neighbours = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= len(data):
        return
    neighbours[tid] = data[i]
    cuda.syncthreads()
    left = neighbours[tid - 1] if tid > 0 else neighbours[tid]
    right = neighbours[tid + 1] if tid + 1 < BLOCK and i + 1 < len(data) else neighbours[tid]
    cuda.syncthreads()
    neighbours[tid] = (left + right) * 0.5
    cuda.syncthreads()
    out[i] = neighbours[tid] + neighbours[0]


def case(rng, variant):
    data = rng.random(75).astype(np.float32)
    return 3, BLOCK, (data, np.zeros_like(data))
