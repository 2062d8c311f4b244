"""A device function becomes the C that it has for the target."""

from pycu2c import cuda, kernel, uint32

TARGET = "cuda"
SIGNATURE = "uint32[::1]"


@cuda.c_function(cuda="return __brev(x);", pure=True)
def reversed_bits(x: uint32) -> uint32:
    return cuda.brev(x)


@kernel
def reverse(out):
    i = cuda.grid(1)
    out[i] = reversed_bits(out[i])
