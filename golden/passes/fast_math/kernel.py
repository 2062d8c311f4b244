"""Minimum and maximum need not choose the first operand where one is NaN."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel(fastmath=True)
def clamp(x):
    i = cuda.grid(1)
    x[i] = min(max(x[i], x[0]), x[1])
