"""The sum of a block: each warp by shuffles, then the first warp over the warps."""

import numpy as np

from pycu2c import cuda, device, float32, kernel

FULL = 0xFFFFFFFF


@device
def summed(x):
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(FULL, x, step)
    return x


@kernel
def warp_sum(a, out):
    sums = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // 32
    x = summed(a[i] if i < len(a) else 0)
    if cuda.laneid == 0:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        x = summed(sums[cuda.laneid] if cuda.laneid < cuda.blockDim.x // 32 else 0)
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, x)


SIGNATURES = {"f32": "void(float32[::1], float32[::1])"}


def case(rng, variant):
    return 2, 128, [rng.random(250).astype(np.float32), np.zeros(1, np.float32)]
