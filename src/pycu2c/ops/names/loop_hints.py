"""Functions of numba that concern loops and have no effect."""

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
