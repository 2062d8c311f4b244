"""Each OS thread adds to a copy of a small array."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1], int32[::1]"
ACCUMULATORS = (0,)


@kernel(block=64)
def histogram(counts, x):
    i = cuda.grid(1)
    if i < len(x):
        cuda.atomic.add(counts, x[i], 1)
