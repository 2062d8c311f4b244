"""Functions in the ``for`` statements of kernels; in Python they have no effect."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def literal_unroll(container: T) -> T:
    """Return the container, as ``numba.literal_unroll``. In kernels, loops over tuples are
    unrolled.

    Parameters
    ----------
    container : tuple
        The iterable of a loop.
    """
    return container


def unroll(iterable: T, factor: int = 0) -> T:
    """Return the iterable. In kernels, ``for i in cuda.unroll(range(n))`` requests unrolling.

    The loop has ``#pragma unroll`` in CUDA C; on the CPU it is an ordinary loop. Loops whose
    counters index local arrays are unrolled without a request.

    Parameters
    ----------
    iterable : range or array
        The iterable of the loop.
    factor : int, optional
        The number of copies of the body, a constant; by default one for each iteration. 1 prevents
        unrolling.
    """
    return iterable
