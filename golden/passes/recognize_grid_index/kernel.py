"""The sum that computes a grid index becomes one intrinsic."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel
def doubled(x):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < len(x):
        x[i] = x[i] * 2
