"""Kernels of a built library whose arguments are complex numbers and floats of 16 bits."""

from __future__ import annotations

from pycu2c import bfloat16, complex64, complex128, cuda, float16, float32, kernel


@kernel
def combine(
    x: complex128[::1],
    h: float16,
    a: complex64,
    b: bfloat16,
    z: complex128,
    n: int,
    out: complex128[:],
):
    """Combine numbers of all sizes."""
    i = cuda.grid(1)
    if i < len(out):
        out[i] = x[i] * z + a * n + h + 1j * float32(b)


@kernel(["complex64[:], complex64", "float32[:], float32", "int32[:], int32"])
def scale(x, factor):
    """Multiply an array by a number."""
    i = cuda.grid(1)
    if i < len(x):
        x[i] *= factor
