"""Counters index a local array: the long loops are unrolled, so that it is in registers."""

from pycu2c import cuda, float32, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1], float32[:, ::1]"


@kernel
def prefix_products(values, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        total = cuda.local.array(16, float32)
        for n in range(8):
            total[n] = values[n]
        for n in range(8, 16):
            total[n] = 1
        for last in range(16):
            for n in range(last):
                total[last] *= total[n]
        for n in range(16):
            out[i, n] = total[n]
