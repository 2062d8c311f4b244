"""A constant that is read as float32 only, a variable or an element of an array, is float32."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


WEIGHTS = (0.25, 0.5, 0.25)


@kernel
def weighted(x):
    i = cuda.grid(1)
    scale = 2.5
    x[i] = x[i] * WEIGHTS[i % 3] * scale
