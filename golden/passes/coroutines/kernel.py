"""Threads that wait at different barriers become resumable."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1]"


@kernel(block=32)
def apart(x):
    t = cuda.threadIdx.x
    if t < 16:
        x[t] = 1
        cuda.syncthreads()
    else:
        x[t] = 2
        cuda.syncthreads()
    x[t] = x[t] + x[31 - t]
