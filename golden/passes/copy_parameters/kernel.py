"""A parameter that is assigned becomes a variable; shared arrays come first."""

from pycu2c import cuda, int32, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1], int32"


@kernel(block=32)
def counted(x, n):
    t = cuda.threadIdx.x
    values = cuda.shared.array(32, int32)
    n = n + t
    values[t] = n
    cuda.syncthreads()
    x[t] = values[31 - t]
