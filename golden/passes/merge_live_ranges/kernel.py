"""Live ranges of one name and type become one variable."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel
def twice(x):
    i = cuda.grid(1)
    value = x[i] + 1
    x[i] = value
    value = x[i + 1] * 2
    x[i + 1] = value
