"""A load, a store and an atomic addition of four numbers are one access each."""

from pycu2c import cuda, float4, kernel

TARGET = "cuda"
SIGNATURE = "float32[::1], float32[::1], float4[::1]"


@kernel
def copy_and_add(out, x, totals):
    i = cuda.grid(1)
    v = x.view(float4)[i]
    out.view(float4)[i] = v
    cuda.atomic.add(totals, 0, v)
