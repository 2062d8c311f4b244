"""Each variable is declared in the smallest block that holds its uses."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel
def clipped(x):
    i = cuda.grid(1)
    value = x[i]
    if value < 0:
        low = -value
        value = min(low, 1)
    x[i] = value
