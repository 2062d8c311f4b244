"""A loop over threads becomes a loop along x; a condition becomes its bound."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=64)
def doubled(x):
    i = cuda.grid(1)
    if i < len(x):
        x[i] = x[i] * 2
