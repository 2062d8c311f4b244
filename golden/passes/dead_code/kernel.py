"""Variables that nothing reads are dropped."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1]"


@kernel
def halved(x):
    i = cuda.grid(1)
    _unused = x[i + 1] * 2
    x[i] = x[i] / 2
