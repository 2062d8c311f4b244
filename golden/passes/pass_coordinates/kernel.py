"""Device functions get the coordinates that they read as arguments."""

from pycu2c import cuda, device, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@device
def store(x, value):
    x[cuda.threadIdx.x] = value
    x[cuda.threadIdx.x + 64] = value


@kernel(block=64)
def filled(x):
    store(x, 1.0)
