"""What Python's subscripts count: from the end if negative, slices cut to what there is. The
frontend writes these; ``transforms/common/legalize`` puts C in their place."""

from __future__ import annotations

from pycu2c.ops.intrinsics.kinds import T
from pycu2c.ops.intrinsics.registry import intrinsic


@intrinsic("python.index")
def index_from_end(index: T, length: T) -> T:
    """The place of an element: a negative index counts from the end."""
    return index + length if index < 0 else index


@intrinsic("python.from_start")
def from_start(index: T) -> T:
    """An index that is known to count from the start: that of a view, in the array's terms."""
    return index


@intrinsic("python.slice_start")
def slice_start(start: T, length: T) -> T:
    """Where a slice begins; one that begins after the end has no elements, wherever that is."""
    return max(start + length, 0) if start < 0 else start


@intrinsic("python.slice_stop")
def slice_stop(stop: T, length: T) -> T:
    """Where a slice ends: inside of what there is."""
    return max(stop + length, 0) if stop < 0 else min(stop, length)


@intrinsic("python.slice_back")
def slice_back(bound: T, length: T) -> T:
    """Where a slice with a negative step begins or ends; -1 is before the first element."""
    return max(bound + length, -1) if bound < 0 else min(bound, length - 1)


SUBSCRIPTS = (from_start, index_from_end, slice_start, slice_stop, slice_back)
