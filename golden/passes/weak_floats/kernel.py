"""Python's floats become float32."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "int, float32[::1]"


@kernel(weak_float="float32")
def halved(n, out):
    i = cuda.grid(1)
    out[i] = n / 2.0
