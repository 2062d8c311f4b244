"""Calls of small device functions become their expression."""

from pycu2c import cuda, device, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@device
def squared(x):
    return x * x


@kernel(block=64)
def squares(x):
    i = cuda.grid(1)
    total = x[i]
    for _ in range(4):
        total = total + squared(total)
    x[i] = total
