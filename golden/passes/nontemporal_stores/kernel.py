"""An array that is only written is stored in whole cache lines, past the caches."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1], float32[::1]"
EXCEEDS_LAST_LEVEL_CACHE = True


@kernel(block=64)
def doubled(out, x):
    i = cuda.grid(1)
    if i < len(x):
        out[i] = x[i] * 2
