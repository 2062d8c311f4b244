"""A grid-stride loop prefetches the data of its next step."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=64)
def doubled(x):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        x[i] = x[i] * 2
