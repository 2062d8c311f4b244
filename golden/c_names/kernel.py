"""Names that C, C++ or CUDA keep for themselves are ordinary names in Python."""

import numpy as np

from pycu2c import cuda, device, float32, kernel

SIGNATURES = {"f32": (float32[::1], float32[::1], float32, float32, int)}


@device
def switch(auto, register):
    return auto * register


@kernel
def c_names(index, double, time, norm, template):
    threadIdx = cuda.threadIdx.x
    this = cuda.blockIdx.x * cuda.blockDim.x + threadIdx
    if this < template:
        volatile = switch(index[this], time)
        signed = volatile + norm
        struct = 1 if signed > 0 else 0
        double[this] = signed * struct + threadIdx


def case(rng, variant):
    index = (rng.random(50) - 0.5).astype(np.float32)
    return 2, 32, (index, np.zeros_like(index), np.float32(3), np.float32(0.25), 50)
