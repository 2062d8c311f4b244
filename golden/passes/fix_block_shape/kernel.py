"""The block's shape becomes constants."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=64)
def filled(x):
    x[cuda.blockIdx.x * cuda.blockDim.x] = cuda.blockDim.x
