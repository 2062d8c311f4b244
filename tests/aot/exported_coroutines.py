"""Kernels of a built library whose threads are coroutines on the CPU."""

from __future__ import annotations

from pycu2c import cuda, int32, kernel


@kernel
def reverse(a: int32[::1], out: int32[::1]):
    """Increment all elements, wait for the grid, and reverse them."""
    i = cuda.grid(1)
    a[i] += 1
    cuda.cg.this_grid().sync()
    out[i] = a[len(a) - 1 - i]


@kernel
def wait_for_flag(flag: int32[::1]):
    """Wait for what no thread stores."""
    while cuda.atomic.add(flag, 0, 0) == 0:
        cuda.nanosleep(100)
