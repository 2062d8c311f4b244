"""A tree of sums in shared memory, one result per block; dynamic shared size given and unused."""

import numpy as np

from pycu2c import cuda, float32, kernel

SIGNATURES = {
    "f32": (float32[::1], float32[::1]),
    "strided": (float32[:], float32[:]),
}


@kernel(block=(256,), shared_memory=256 * 4)  # 256 floats
def reduce_sum(data, out):
    shared = cuda.shared.array(256, dtype=float32)

    i = cuda.grid(1)
    tid = cuda.threadIdx.x

    # Load to shared memory
    if i < len(data):
        shared[tid] = data[i]
    else:
        shared[tid] = 0

    cuda.syncthreads()

    # Reduction in shared memory
    s = 128
    while s > 0:
        if tid < s:
            shared[tid] += shared[tid + s]
        cuda.syncthreads()
        s //= 2

    if tid == 0:
        out[cuda.blockIdx.x] = shared[0]


def case(rng, variant):
    data = rng.random(700).astype(np.float32)
    if variant == "strided":
        data = data[::-1]
    return 3, 256, (data, np.zeros(3, np.float32))
