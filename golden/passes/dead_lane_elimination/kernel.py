"""Threads whose results no thread reads are left out."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=32)
def total(x):
    t = cuda.threadIdx.x
    value = x[t]
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16)
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, 8)
    if t == 0:
        x[0] = value
