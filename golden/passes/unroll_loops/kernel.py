"""A short loop around loops over threads is unrolled."""

from pycu2c import cuda, float32, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=8)
def total(x):
    part = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    width = 4
    while width > 0:
        if t < width:
            part[t] += part[t + width]
        cuda.syncthreads()
        width //= 2
    x[t] = part[0]
