"""What the compiler assumes of a launch, and the value ranges that follow."""

from __future__ import annotations

import math

from pycu2c.analysis.ranges.intervals import Interval, everything
from pycu2c.base.limits import BLOCKS32_LIMIT, INDEX32_LIMIT, MAX_ARRAY_ELEMENTS, MAX_BLOCK_THREADS
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.base.values import assumed_magnitude_limit
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, BLOCK_NUMBERS, GRID, GRIDSIZE, PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread


@dataclass(frozen=True, slots=True)
class LaunchAssumptions:
    """What the compiler assumes of a launch. It is the specialization key of compiled kernels.

    Each field has a check in ``kernels/assumption_checks.py``. The defaults hold for every launch.
    Besides, no array has more than 2**48 elements (axes of length 0 counted as 1).

    index32_safe: indices can be computed in 32 bits. No array is empty or has 2**30 elements or
        more, nor do its strides span as many. No axis of the grid has 2**30 threads or more, or
        more than 2**22 blocks: an index plus a stride, and a block index times the width of a
        tile, fit 32 bits. Python ints are between -(2**30) and 2**30; int64s are not within 2**48
        of the limits of their type.
    block: the threads of a block along x, y and z; None for any shape.
    unaliased_accumulators: the positions of arguments that are small arrays, and share no memory
        with the others.
    exceeds_last_level_cache: the launch accesses more memory than caches hold.
    """

    index32_safe: bool = False
    block: tuple[int, int, int] | None = None
    unaliased_accumulators: tuple[int, ...] = ()
    exceeds_last_level_cache: bool = False

    @property
    def most_elements(self) -> int:
        return INDEX32_LIMIT - 1 if self.index32_safe else MAX_ARRAY_ELEMENTS

    @property
    def lengths(self) -> Interval:
        """Where the length of any array's axis lies; one that the kernel makes may be empty."""
        return Interval(0, self.most_elements)

    @property
    def given_lengths(self) -> Interval:
        """Where the length of an axis of the kernel's arguments lies."""
        return Interval(1 if self.index32_safe else 0, self.most_elements)

    @property
    def threads(self) -> int:
        """How many threads a block has at most."""
        return MAX_BLOCK_THREADS if self.block is None else math.prod(self.block)

    def argument(self, scalar: Scalar) -> Interval:
        """Where a number that the kernel is given lies."""
        limit = assumed_magnitude_limit(scalar) if self.index32_safe else None
        return everything(scalar) if limit is None else Interval(-limit, limit)

    def bounds(self, row: Intrinsic) -> Interval | None:
        """Where the integer that an intrinsic gives lies."""
        if row.bounds is None:
            return None
        low, high = row.bounds
        if self.index32_safe and row in GRID + GRIDSIZE:
            high = min(high, INDEX32_LIMIT - (2 if row in GRID else 1))
        if self.index32_safe and row in BLOCK_NUMBERS:
            high = min(high, BLOCKS32_LIMIT - (1 if row.bounds[0] == 0 else 0))
        for axis, extent in zip(AXES, self.block or ()):
            if row is PLACES["threadIdx", axis]:
                high = extent - 1
        return Interval(low, self.threads - 1 if row is block_thread else high)


def is_fixed(row: Intrinsic) -> bool:
    """Whether it is a coordinate of the thread: the same wherever it is read."""
    return row.bounds is not None and (row.is_attribute or row in GRID + GRIDSIZE)
