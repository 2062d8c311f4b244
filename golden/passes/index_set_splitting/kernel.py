"""A loop over the elements of a flat image is split where a row of the image begins."""

from __future__ import annotations

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1], float32[::1], float32[::1], int"


@kernel
def outer_product(a, b, out, width):
    i = cuda.grid(1)
    if i < out.size:
        row = i // width
        column = i % width
        out[i] = a[row] * b[column]
