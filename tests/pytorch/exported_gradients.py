"""A kernel and the kernel of its gradient, for a built library."""

from __future__ import annotations

from pycu2c import cuda, float32, kernel


@kernel
def square(x: float32[::1], result: float32[::1]):
    """Square each element."""
    i = cuda.grid(1)
    if i < len(x):
        result[i] = x[i] * x[i]


@kernel
def square_gradient(x: float32[::1], grad: float32[::1], result: float32[::1]):
    """Compute the gradient of ``square`` from that of its result."""
    i = cuda.grid(1)
    if i < len(x):
        result[i] = 2 * x[i] * grad[i]


@kernel
def double(x: float32[::1]):
    """Double each element in place."""
    i = cuda.grid(1)
    if i < len(x):
        x[i] *= 2
