"""Barriers and calls whose order matters become statements."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1]"


@kernel(block=32)
def positive(x):
    i = cuda.grid(1)
    x[i] = cuda.syncthreads_count(x[i] > 0) - cuda.syncthreads_count(x[i] < 0)
