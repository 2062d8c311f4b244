"""Define the assumptions that the compiler makes about a launch."""

from __future__ import annotations

import math

from pycu2c.base.limits import INDEX32_LIMIT, MAX_ARRAY_ELEMENTS, MAX_BLOCK_THREADS
from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class LaunchAssumptions:
    """Assumptions about a launch, which are part of the specialization key of compiled kernels.

    Each field has a check in ``kernels/assumption_checks.py``. The defaults hold for every launch.
    Besides, no array has more than 2**48 elements (axes of length 0 counted as 1).

    index32_safe: indices can be computed in 32 bits. No array is empty or has more than 2**30
        elements, nor do its strides span more. No axis of an array has 2**30 elements or more. No
        axis of the grid has 2**30 threads or more, or more than 2**22 blocks: an index plus a
        stride, and a block index times the width of a tile, fit 32 bits. Python ints are between
        -(2**30) and 2**30; int64s are not within 2**48 of the limits of their type.
    block: the threads of a block along x, y and z; None for any shape.
    unaliased_accumulators: the positions of arguments that are small arrays, and share no memory
        with the others.
    exceeds_last_level_cache: the launch accesses more memory than caches hold.
    distinct_arrays: no array that the kernel writes overlaps another one.
    grid: the blocks along x, y and z; None for any. Only checked kernels assume it.
    short_axes: contiguous arrays with a short last axis: the position of the argument, the axis
        and its length.
    small_products: products of integer arguments that are at most 2**29: the positions of the
        factors, which may repeat. Each factor is 1 or more.
    """

    index32_safe: bool = False
    block: tuple[int, int, int] | None = None
    unaliased_accumulators: tuple[int, ...] = ()
    exceeds_last_level_cache: bool = False
    distinct_arrays: bool = False
    grid: tuple[int, int, int] | None = None
    short_axes: tuple[tuple[int, int, int], ...] = ()
    small_products: tuple[tuple[int, ...], ...] = ()

    @property
    def max_elements(self) -> int:
        """Return the maximum number of elements of an array."""
        return INDEX32_LIMIT if self.index32_safe else MAX_ARRAY_ELEMENTS

    @property
    def max_threads(self) -> int:
        """Return the maximum number of threads of a block."""
        return MAX_BLOCK_THREADS if self.block is None else math.prod(self.block)
