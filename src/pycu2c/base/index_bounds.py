"""What the compiler finds of the sizes of a launch's arrays, and what that means at the launch."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.records import NamedTuple


class ArgumentExtent(NamedTuple):
    """A number of elements or threads: ``arguments[argument].shape[axis]``, or the argument."""

    argument: int
    axis: int | None


class AxisIndex(NamedTuple):
    """An index that each thread has another value of: along an axis of the grid, up to bounds.
    ``strided``: few threads have all of them, one after the other."""

    grid_axis: int
    strided: bool
    bounds: frozenset[ArgumentExtent] = frozenset()


class WrittenArray(NamedTuple):
    """An array argument whose elements are all written: the index of each axis."""

    argument: int
    axes: tuple[AxisIndex, ...]


def writes_every_element(
    found: WrittenArray,
    shapes: Sequence[Sequence[int]],
    numbers: Sequence[int],
    threads: Sequence[int],
) -> bool:
    """Whether a launch writes all of an array. ``shapes`` and ``numbers`` are of the arguments,
    empty and 0 for those that are no arrays, or no ints; ``threads`` of the grid."""

    def reach(bound: ArgumentExtent) -> int:
        return numbers[bound.argument] if bound.axis is None else shapes[bound.argument][bound.axis]

    return all(
        (place.strided or threads[place.grid_axis] >= extent)
        and all(extent <= reach(bound) < 1 << 63 for bound in place.bounds)
        for place, extent in zip(found.axes, shapes[found.argument])
    )
