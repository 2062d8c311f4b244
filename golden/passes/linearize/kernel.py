"""Calls whose order C leaves open become statements."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "int32[::1], int32[::1]"


@kernel
def tickets(counter, out):
    out[0] = cuda.atomic.add(counter, 0, 1) - cuda.atomic.add(counter, 0, 2)
