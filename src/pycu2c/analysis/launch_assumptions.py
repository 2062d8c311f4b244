"""What is known of a launch before it is compiled for. Knows nothing of the kernel."""

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
class Facts:
    """What the passes may take for granted.

    Always: no array has more than 2**48 elements (axes of length 0 counted as 1).
    ``ordinary``: the launcher has seen that none has 2**30 or more, and each some; that no axis
    of the grid has 2**30 threads or more, so that an index plus a stride fits 32 bits too, and
    loops over the data can count in them; that no axis has over 2**22 blocks, so that a block's
    number times a tile's width fits, too; and that the Python ints that the kernel is given lie
    between -(2**30) and 2**30, and its int64s not within 2**48 of the ends of their type.
    ``wraparound``: an index that is not a constant may be negative. False is the user's word.
    ``fastmath``: the user does not ask which of two numbers is the lesser if one is NaN.
    ``narrows``: the target computes in 32 bits where they are enough.
    ``accumulators``: the positions of arguments that the launcher has seen to be small arrays that
    share no memory with the others.
    ``past_caches``: the launch takes more memory than caches hold.
    ``block``: the threads of a block along x, y and z; None if they are to be any.
    """

    ordinary: bool = False
    wraparound: bool = True
    fastmath: bool = False
    narrows: bool = True
    block: tuple[int, int, int] | None = None
    accumulators: frozenset[int] = frozenset()
    past_caches: bool = False

    @property
    def index32(self) -> bool:
        """Whether lengths and indices are 32-bit."""
        return self.ordinary and self.narrows

    @property
    def most_elements(self) -> int:
        return INDEX32_LIMIT - 1 if self.ordinary else MAX_ARRAY_ELEMENTS

    @property
    def lengths(self) -> Interval:
        """Where the length of any array's axis lies; one that the kernel makes may be empty."""
        return Interval(0, self.most_elements)

    @property
    def given_lengths(self) -> Interval:
        """Where the length of an axis of the kernel's arguments lies."""
        return Interval(1 if self.ordinary else 0, self.most_elements)

    @property
    def threads(self) -> int:
        """How many threads a block has at most."""
        return MAX_BLOCK_THREADS if self.block is None else math.prod(self.block)

    def argument(self, scalar: Scalar) -> Interval:
        """Where a number that the kernel is given lies."""
        limit = assumed_magnitude_limit(scalar) if self.ordinary else None
        return everything(scalar) if limit is None else Interval(-limit, limit)

    def bounds(self, row: Intrinsic) -> Interval | None:
        """Where the integer that an intrinsic gives lies."""
        if row.bounds is None:
            return None
        low, high = row.bounds
        if self.ordinary and row in GRID + GRIDSIZE:
            high = min(high, INDEX32_LIMIT - (2 if row in GRID else 1))
        if self.ordinary and row in BLOCK_NUMBERS:
            high = min(high, BLOCKS32_LIMIT - (1 if row.bounds[0] == 0 else 0))
        for axis, extent in zip(AXES, self.block or ()):
            if row is PLACES["threadIdx", axis]:
                high = extent - 1
        return Interval(low, self.threads - 1 if row is block_thread else high)


def is_fixed(row: Intrinsic) -> bool:
    """Whether it is a coordinate of the thread: the same wherever it is read."""
    return row.bounds is not None and (row.is_attribute or row in GRID + GRIDSIZE)
