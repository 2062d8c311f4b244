"""The arithmetic that computes a grid index or the grid's size becomes one intrinsic."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel
def doubled(x):
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width + cuda.threadIdx.x
    for k in range(i, len(x), cuda.gridDim.x * width):
        x[k] = x[k] * 2
