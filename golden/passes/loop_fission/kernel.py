"""A barrier splits the kernel into two loops over threads. A value that both loops read has a
context array."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=32)
def smoothed(x):
    t = cuda.threadIdx.x
    value = x[t] * 2
    cuda.syncthreads()
    x[31 - t] = value
