"""A while loop that counts becomes a for loop."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=64)
def doubled(x):
    i = cuda.grid(1)
    while i < len(x):
        x[i] = x[i] * 2
        i += cuda.gridsize(1)
