"""Which arrays a launch writes completely: the compiler's result, and its check at launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ArgumentExtent(NamedTuple):
    """``arguments[argument].shape[axis]``, or the argument itself if ``axis`` is None."""

    argument: int
    axis: int | None


class AxisIndex(NamedTuple):
    """An index that takes each value up to ``bounds`` along one axis of the grid.

    ``strided``: a grid-stride loop, in which any number of threads reach all values.
    """

    grid_axis: int
    strided: bool
    bounds: frozenset[ArgumentExtent] = frozenset()


class WrittenArray(NamedTuple):
    """An array argument of which all elements are written, with the index of each axis."""

    argument: int
    axes: tuple[AxisIndex, ...]


def writes_every_element(
    array: WrittenArray,
    shapes: Sequence[Sequence[int]],
    numbers: Sequence[int],
    threads: Sequence[int],
) -> bool:
    """Return whether a launch writes all elements of an array.

    shapes: of the arguments; empty for other arguments than arrays. numbers: the integer arguments;
    0 for other arguments. threads: of the grid along each axis.
    """

    def bound_value(bound: ArgumentExtent) -> int:
        return numbers[bound.argument] if bound.axis is None else shapes[bound.argument][bound.axis]

    return all(
        (index.strided or threads[index.grid_axis] >= extent)
        and all(extent <= bound_value(bound) < 1 << 63 for bound in index.bounds)
        for index, extent in zip(array.axes, shapes[array.argument])
    )
