"""Python's ints become 32-bit where they are proved to fit."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel
def shifted(x):
    i = cuda.grid(1)
    if i + 1 < len(x):
        x[i] = x[i + 1]
