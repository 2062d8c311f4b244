"""Compute the offset, shape and strides of views, as numpy does. No element is accessed."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple, NoReturn

from pycu2c.runtime.arguments.strides import Shape, packed_strides


class ViewGeometry(NamedTuple):
    """A view of an array: the offset of its first element in bytes, its shape and strides."""

    offset: int
    shape: Shape
    strides: Shape


class MergedAxis(NamedTuple):
    """An axis of several arrays of one shape: its length, and its stride in each array."""

    extent: int
    strides: tuple[int, ...]


def indexed(shape: Shape, strides: Shape, key: Any) -> ViewGeometry:
    """Return the view ``array[key]`` for integers, slices, an ellipsis and None. Raises
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
            end = axis + len(shape) - _indexed_axes(keys)
            extents += shape[axis:end]
            steps += strides[axis:end]
            axis = end
            continue
        if axis >= len(shape):
            raise IndexError(f"{_indexed_axes(keys)} indices for an array with {len(shape)} axes")
        extent, step = shape[axis], strides[axis]
        if type(each) is slice:
            start, stop, stride = each.indices(extent)
            count = len(range(start, stop, stride))
            extents.append(count)
            steps.append(step * stride)
            offset += start * step if count else 0
        else:
            offset += _position(each, extent, axis) * step
        axis += 1
    return ViewGeometry(offset, (*extents, *shape[axis:]), (*steps, *strides[axis:]))


def _indexed_axes(keys: tuple[Any, ...]) -> int:
    """Return the number of axes that integers and slices index."""
    if sum(each is Ellipsis for each in keys) > 1:
        raise IndexError("there can be one ... in an index")
    return sum(each is not None and each is not Ellipsis for each in keys)


def _position(index: Any, extent: int, axis: int) -> int:
    """Return a nonnegative index. Raises IndexError."""
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        _reject_index(index)
    try:
        number = operator.index(index)
    except TypeError:  # a numpy array of several elements
        _reject_index(index)
    if not -extent <= number < extent:
        raise IndexError(f"index {number} is outside of axis {axis}, whose length is {extent}")
    return number + extent if number < 0 else number


def _reject_index(index: object) -> NoReturn:
    raise IndexError(
        "a device array is indexed by whole numbers, slices, ... and None, not by "
        f"{type(index).__name__}: copy_to_host() gives an array that numpy indexes"
    )


# ---- other shapes ------------------------------------------------------------------------------


def transposed(shape: Shape, strides: Shape, axes: Sequence[int]) -> ViewGeometry:
    """Return the view with another order of axes. Raises ValueError."""
    order = [operator.index(axis) for axis in axes]
    order = [axis + len(shape) if axis < 0 else axis for axis in order]
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"{tuple(axes)} is no order of the {len(shape)} axes")
    return ViewGeometry(0, tuple(shape[a] for a in order), tuple(strides[a] for a in order))


def squeezed(shape: Shape, strides: Shape, axes: Sequence[int] | None) -> ViewGeometry:
    """Return the view without all axes of length 1, or without ``axes``. Raises ValueError."""
    count = len(shape)
    removed = range(count) if axes is None else [a + count if a < 0 else a for a in axes]
    if axes is not None and any(not 0 <= a < count or shape[a] != 1 for a in removed):
        raise ValueError(f"not each of the axes {tuple(axes)} of {shape} has length 1")
    left = [a for a in range(count) if a not in removed or shape[a] != 1]
    return ViewGeometry(0, tuple(shape[a] for a in left), tuple(strides[a] for a in left))


def resolved_shape(size: int, shape: Shape) -> Shape:
    """Replace a -1 in a shape. Raises ValueError if ``size`` elements do not have the shape."""
    known = 1
    for extent in shape:
        known *= extent if extent >= 0 else 1
    unknown = sum(extent < 0 for extent in shape)
    if unknown > 1 or (unknown and (not known or size % known)) or (not unknown and known != size):
        raise ValueError(f"{size} elements have no shape {shape}")
    return tuple(extent if extent >= 0 else size // known for extent in shape)


def reshaped(shape: Shape, strides: Shape, target: Shape, order: str) -> ViewGeometry | None:
    """Return the view with another shape of the same size; None if only a copy has it."""
    if 0 in shape:
        return ViewGeometry(0, target, packed_strides(target, 0))
    if order == "F":  # the transpose of a view of the transpose in C order
        steps = _reshaped_strides(shape[::-1], strides[::-1], target[::-1])
        return None if steps is None else ViewGeometry(0, target, steps[::-1])
    steps = _reshaped_strides(shape, strides, target)
    return None if steps is None else ViewGeometry(0, target, steps)


def _reshaped_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """Return the strides of the elements in the same order with another shape, if any exist."""
    axes = merged_axes(shape, strides)
    steps: list[int] = []
    # the unused length and the stride of the current merged axis
    left, (step,) = axes.pop() if axes else MergedAxis(1, (0,))
    for extent in reversed(target):
        if extent == 1:
            steps.append(step)
            continue
        if left == 1 and axes:
            left, (step,) = axes.pop()
        if left % extent:
            return None
        steps.append(step)
        left, step = left // extent, step * extent
    return tuple(reversed(steps))


def merged_axes(shape: Shape, *strides: Shape) -> list[MergedAxis]:
    """Merge neighboring axes that are one axis in each of several arrays of one shape, and drop
    axes of length 1."""
    out: list[MergedAxis] = []
    for axis, extent in enumerate(shape):
        steps = tuple(s[axis] for s in strides)
        if extent == 1:
            continue
        if out and all(outer == extent * inner for outer, inner in zip(out[-1].strides, steps)):
            out[-1] = MergedAxis(out[-1].extent * extent, steps)
        else:
            out.append(MergedAxis(extent, steps))
    return out


def broadcast(shape: Shape, strides: Shape, target: Shape) -> ViewGeometry:
    """Return the view that repeats elements to fill a shape. Raises ValueError."""
    extra = len(target) - len(shape)
    fits = extra >= 0 and all(n in (1, w) for n, w in zip(shape, target[max(extra, 0) :]))
    if not fits:
        raise ValueError(f"an array of shape {shape} cannot be broadcast to {target}")
    steps = [0 if n == 1 else step for n, step in zip(shape, strides)]
    return ViewGeometry(0, target, (*repeat(0, extra), *steps))
