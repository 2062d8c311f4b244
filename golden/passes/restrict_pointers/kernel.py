"""A sum in memory, which the compiler may keep in a register if the arrays do not overlap."""

from __future__ import annotations

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[:, ::1], float32[::1]"
DISTINCT_ARRAYS = True


@kernel
def sums(a, out):
    i = cuda.grid(1)
    if i < len(out):
        for k in range(a.shape[1]):
            out[i] += a[i, k]
