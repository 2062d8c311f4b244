"""Both calls of a device function use the same shared array, which the kernel allocates."""

from pycu2c import cuda, device, float32, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@device
def shared_sum(x):
    part = cuda.shared.array(32, float32)
    cuda.syncthreads()
    part[cuda.threadIdx.x] = x
    cuda.syncthreads()
    return part[0] + part[1]


@device
def shared_mean(x):
    return shared_sum(x) / 2


@kernel(block=32)
def centred(x):
    i = cuda.grid(1)
    x[i] -= shared_mean(x[i])
    x[i] /= shared_sum(x[i] * x[i])
