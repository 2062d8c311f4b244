"""Coordinates that strip-mined loops read become variables."""

from pycu2c import cuda, float32, int32, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1], float32"


@kernel(block=64)
def grown(x, limit):
    value = x[cuda.threadIdx.x]
    while value < limit:
        value = value * 1.5 + float32(int32(cuda.threadIdx.x))
    x[cuda.threadIdx.x] = value
