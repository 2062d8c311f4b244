"""What numpy's views of an array are, as numbers: where they begin, their shape and strides.

Nothing here touches an element: the memory is a GPU's.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NoReturn

from pycu2c.base.records import NamedTuple
from pycu2c.runtime.arguments.strides import Shape, packed_strides


class ViewGeometry(NamedTuple):
    """A view of an array: the offset of its first element in bytes, its shape and strides."""

    offset: int
    shape: Shape
    strides: Shape


def part(shape: Shape, strides: Shape, key: Any) -> ViewGeometry:
    """What ``array[key]`` is a view of, for ints, slices, an ellipsis and None. Raises
    IndexError."""
    keys = key if type(key) is tuple else (key,)
    offset, axis = 0, 0
    extents: list[int] = []
    steps: list[int] = []
    for each in keys:
        if each is None:
            extents.append(1)
            steps.append(0)
            continue
        if each is Ellipsis:
            rest = axis + len(shape) - _named(keys)
            extents += shape[axis:rest]
            steps += strides[axis:rest]
            axis = rest
            continue
        if axis >= len(shape):
            raise IndexError(f"{_named(keys)} indices for an array with {len(shape)} axes")
        extent, step = shape[axis], strides[axis]
        if type(each) is slice:
            start, stop, stride = each.indices(extent)
            count = len(range(start, stop, stride))
            extents.append(count)
            steps.append(step * stride)
            offset += start * step if count else 0
        else:
            offset += _place(each, extent, axis) * step
        axis += 1
    return ViewGeometry(offset, (*extents, *shape[axis:]), (*steps, *strides[axis:]))


def _named(keys: tuple[Any, ...]) -> int:
    """How many axes an index names."""
    if sum(each is Ellipsis for each in keys) > 1:
        raise IndexError("there can be one ... in an index")
    return sum(each is not None and each is not Ellipsis for each in keys)


def _place(index: Any, extent: int, axis: int) -> int:
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        _refuse(index)
    try:
        number = operator.index(index)
    except TypeError:  # numpy's arrays of several elements
        _refuse(index)
    if not -extent <= number < extent:
        raise IndexError(f"index {number} is outside of axis {axis}, whose length is {extent}")
    return number + extent if number < 0 else number


def _refuse(index: object) -> NoReturn:
    raise IndexError(
        "a device array is indexed by whole numbers, slices, ... and None, not by "
        f"{type(index).__name__}: copy_to_host() gives an array that numpy indexes"
    )


# ---- other shapes ------------------------------------------------------------------------------


def transposed(shape: Shape, strides: Shape, axes: Sequence[int]) -> ViewGeometry:
    """The view with axes in another order. Raises ValueError."""
    order = [operator.index(axis) for axis in axes]
    order = [axis + len(shape) if axis < 0 else axis for axis in order]
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"{tuple(axes)} is no order of the {len(shape)} axes")
    return ViewGeometry(0, tuple(shape[a] for a in order), tuple(strides[a] for a in order))


def squeezed(shape: Shape, strides: Shape, axes: Sequence[int] | None) -> ViewGeometry:
    """The view without axes of length 1: all, or those given. Raises ValueError."""
    count = len(shape)
    wanted = range(count) if axes is None else [a + count if a < 0 else a for a in axes]
    if axes is not None and any(not 0 <= a < count or shape[a] != 1 for a in wanted):
        raise ValueError(f"not each of the axes {tuple(axes)} of {shape} has length 1")
    kept = [a for a in range(count) if a not in wanted or shape[a] != 1]
    return ViewGeometry(0, tuple(shape[a] for a in kept), tuple(strides[a] for a in kept))


def filled_in(size: int, shape: Shape) -> Shape:
    """A shape whose -1 is what remains. Raises ValueError where ``size`` elements have no such
    shape."""
    known = 1
    for extent in shape:
        known *= extent if extent >= 0 else 1
    unknown = sum(extent < 0 for extent in shape)
    if unknown > 1 or (unknown and (not known or size % known)) or (not unknown and known != size):
        raise ValueError(f"{size} elements have no shape {shape}")
    return tuple(extent if extent >= 0 else size // known for extent in shape)


def reshaped(shape: Shape, strides: Shape, wanted: Shape, order: str) -> ViewGeometry | None:
    """The view with another shape of as many elements; None if there is none."""
    if 0 in shape:
        return ViewGeometry(0, wanted, packed_strides(wanted, 0))
    if order == "F":  # a view in Fortran's order is one of the transpose
        steps = _steps_of(shape[::-1], strides[::-1], wanted[::-1])
        return None if steps is None else ViewGeometry(0, wanted, steps[::-1])
    steps = _steps_of(shape, strides, wanted)
    return None if steps is None else ViewGeometry(0, wanted, steps)


def _steps_of(shape: Shape, strides: Shape, wanted: Shape) -> Shape | None:
    """The strides that show the elements in the same order with another shape, if any do."""
    rest = [(extent, group[0]) for extent, group in joined(shape, (strides,))]
    steps: list[int] = []
    left, step = rest.pop() if rest else (1, 0)
    for extent in reversed(wanted):
        if extent == 1:
            steps.append(step)
            continue
        if left == 1 and rest:
            left, step = rest.pop()
        if left % extent:
            return None
        steps.append(step)
        left, step = left // extent, step * extent
    return tuple(reversed(steps))


def joined(shape: Shape, strides: tuple[Shape, ...]) -> list[tuple[int, Shape]]:
    """Axes as few as they can be: neighbours that are one axis for each of some strides are
    joined, and those of length 1 dropped. Gives for each its length and its strides."""
    out: list[tuple[int, Shape]] = []
    for axis, extent in enumerate(shape):
        steps = tuple(s[axis] for s in strides)
        if extent == 1:
            continue
        if out and all(outer == extent * inner for outer, inner in zip(out[-1][1], steps)):
            out[-1] = out[-1][0] * extent, steps
        else:
            out.append((extent, steps))
    return out


def broadcast(shape: Shape, strides: Shape, wanted: Shape) -> ViewGeometry:
    """The view that repeats elements to fill a shape. Raises ValueError."""
    extra = len(wanted) - len(shape)
    fits = extra >= 0 and all(n in (1, w) for n, w in zip(shape, wanted[max(extra, 0) :]))
    if not fits:
        raise ValueError(f"an array of shape {shape} cannot be broadcast to {wanted}")
    steps = [0 if n == 1 else step for n, step in zip(shape, strides)]
    return ViewGeometry(0, wanted, (*repeat(0, extra), *steps))
