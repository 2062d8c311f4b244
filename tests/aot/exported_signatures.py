"""Kernels of a built library with several signatures."""

from __future__ import annotations

from pycu2c import cuda, kernel


@kernel(["float32[:], float32", "float32[::1], float32", "int32[:], int32"])
def scale(x, factor):
    """Multiply an array by a number."""
    i = cuda.grid(1)
    if i < len(x):
        x[i] *= factor
