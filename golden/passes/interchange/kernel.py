"""A grid-stride loop goes around the threads of the block."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=64)
def doubled(x):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        x[i] = x[i] * 2
