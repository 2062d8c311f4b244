"""Subscripts with the semantics of Python: negative indices, and slices clipped to the length.

The front end creates them; ``transforms/common/legalize`` lowers them.
"""

from __future__ import annotations

from pycu2c.ops.intrinsics.kinds import T
from pycu2c.ops.intrinsics.registry import intrinsic


@intrinsic("python.index")
def index_from_end(index: T, length: T) -> T:
    """Return an index from the start; a negative index counts from the end."""
    return index + length if index < 0 else index


@intrinsic("python.from_start")
def from_start(index: T) -> T:
    """Return an index of a view, which counts from the start of the array."""
    return index


@intrinsic("python.slice_start")
def slice_start(start: T, length: T) -> T:
    """Return the start of a slice; a start after the end is not clipped, as the slice is empty."""
    return max(start + length, 0) if start < 0 else start


@intrinsic("python.slice_stop")
def slice_stop(stop: T, length: T) -> T:
    """Return the end of a slice, clipped to the length."""
    return max(stop + length, 0) if stop < 0 else min(stop, length)


@intrinsic("python.slice_back")
def slice_back(bound: T, length: T) -> T:
    """Return a bound of a slice with a negative step; -1 is before the first element."""
    return max(bound + length, -1) if bound < 0 else min(bound, length - 1)


SUBSCRIPTS = (from_start, index_from_end, slice_start, slice_stop, slice_back)
