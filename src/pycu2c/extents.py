"""What the compiler finds of the sizes of a launch's arrays, and what that means at the launch; how
large numbers are in most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pycu2c.dtypes import INT64
from pycu2c.limits import INDEX32_LIMIT, INT64_LIMIT
from pycu2c.types import Scalar


class Length(NamedTuple):
    """A number of elements or threads: ``arguments[argument].shape[axis]``, or the argument."""

    argument: int
    axis: int | None


class Place(NamedTuple):
    """An index that each thread has another value of: along an axis of the grid, up to bounds.
    ``strided``: few threads have all of them, one after the other."""

    grid_axis: int
    strided: bool
    bounds: frozenset[Length] = frozenset()


class Overwritten(NamedTuple):
    """An array argument whose elements are all written: the index of each axis."""

    argument: int
    axes: tuple[Place, ...]


def is_whole(
    found: Overwritten,
    shapes: Sequence[Sequence[int]],
    numbers: Sequence[int],
    threads: Sequence[int],
) -> bool:
    """Whether a launch writes all of an array. ``shapes`` and ``numbers`` are of the arguments,
    empty and 0 for those that are no arrays, or no ints; ``threads`` of the grid."""

    def reach(bound: Length) -> int:
        return numbers[bound.argument] if bound.axis is None else shapes[bound.argument][bound.axis]

    return all(
        (place.strided or threads[place.grid_axis] >= extent)
        and all(extent <= reach(bound) < 1 << 63 for bound in place.bounds)
        for place, extent in zip(found.axes, shapes[found.argument])
    )


def ordinary_limit(kind: object) -> int | None:
    """How far from 0 an argument of a type lies at most in a launch that is ordinary to the
    compiler; None if nothing is asked of it."""
    if not isinstance(kind, Scalar):
        return None
    if kind.weak and kind.dtype.is_integer:
        return INDEX32_LIMIT - 1
    return INT64_LIMIT if kind.dtype is INT64 else None
