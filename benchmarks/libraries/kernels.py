"""The kernel of the library whose calls library_calls.py times."""

from __future__ import annotations

from pycu2c import cuda, float32, kernel


@kernel
def scale(x: float32[::1], factor: float32):
    """Multiply an array by a number."""
    i = cuda.grid(1)
    if i < len(x):
        x[i] *= factor
