"""The starts of rows are loaded: no index counts from the end if the first one does not."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "int32[::1], float32[::1], float32[::1]"


@kernel
def row_sums(starts, values, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(starts[i], starts[i + 1]):
            out[i] += values[k]
