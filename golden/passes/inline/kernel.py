"""A device function with a barrier becomes part of its caller."""

from pycu2c import cuda, device, float32, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@device
def shared_sum(x):
    part = cuda.shared.array(32, float32)
    part[cuda.threadIdx.x] = x
    cuda.syncthreads()
    return part[0] + part[1]


@kernel(block=32)
def sums(x):
    i = cuda.grid(1)
    x[i] = shared_sum(x[i])
