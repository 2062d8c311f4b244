"""A constant that is read as float32 only is float32: in a variable, an array or an expression."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


WEIGHTS = (0.25, 0.5, 0.25)


@kernel
def weighted(x):
    i = cuda.grid(1)
    scale = 2.5
    limit = 4.0 if i < 8 else 0.1
    x[i] = x[i] * WEIGHTS[i % 3] * scale * (0.5 if x[i] < limit else 1.0)
