"""Each block adds its part to one element, atomically."""

import numpy as np

from pycu2c import cuda, float32, kernel

BLOCK = 64

SIGNATURES = {
    "f32": (float32[::1], float32[::1], float32[::1]),
    "strided": (float32[:], float32[:], float32[::1]),
}


@kernel(block=(BLOCK,))
def dot_product(a, b, out):
    partial = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    total = 0
    for i in range(cuda.grid(1), len(a), cuda.gridsize(1)):
        total += a[i] * b[i]
    partial[tid] = total
    cuda.syncthreads()

    half = BLOCK // 2
    while half > 0:
        if tid < half:
            partial[tid] += partial[tid + half]
        cuda.syncthreads()
        half //= 2

    if tid == 0:
        cuda.atomic.add(out, 0, partial[0])


def case(rng, variant):
    a, b = rng.random((2, 300)).astype(np.float32)
    if variant == "strided":
        a, b = a[::2], b[::-2]
    return 2, BLOCK, (a, b, np.zeros(1, np.float32))
