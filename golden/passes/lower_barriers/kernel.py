"""A shuffle becomes a wait, and an array with an element for each lane."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=32)
def from_neighbour(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)
