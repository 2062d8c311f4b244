"""Compute the offset, shape and strides of views, as numpy does. No element is accessed."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycu2c.runtime.arguments.strides import Shape, array_over, packed_strides


class ViewGeometry(NamedTuple):
    """A view of an array: the offset of its first element in bytes, its shape and strides."""

    offset: int
    shape: Shape
    strides: Shape


class MergedAxis(NamedTuple):
    """An axis of several arrays of one shape: its length, and its stride in each array."""

    extent: int
    strides: tuple[int, ...]


_PLACEHOLDER_ADDRESS = 1 << 40  # of arrays that only have a shape and strides


def _array_of(shape: Shape, strides: Shape) -> NDArray[Any]:
    """Return a numpy array without memory: it must be viewed only, not read."""
    return array_over(_PLACEHOLDER_ADDRESS, (shape, strides, np.dtype(np.uint8)))


def _geometry_of(view: NDArray[Any]) -> ViewGeometry:
    """Return the geometry of a view of such an array."""
    offset = view.__array_interface__["data"][0] - _PLACEHOLDER_ADDRESS if view.size else 0
    return ViewGeometry(offset, view.shape, view.strides)


def indexed(shape: Shape, strides: Shape, key: Any) -> ViewGeometry:
    """Return the view ``array[key]`` for integers, slices, an ellipsis and None. Raises
    IndexError."""
    keys = key if type(key) is tuple else (key,)
    basic_key = tuple(
        each if each is None or each is Ellipsis or type(each) is slice else _integer(each)
        for each in keys
    )
    if not any(each is Ellipsis for each in basic_key):
        basic_key = (*basic_key, Ellipsis)  # without it numpy would read a single element
    return _geometry_of(_array_of(shape, strides)[basic_key])


def _integer(index: Any) -> int:
    """Convert an index to an integer. Raises IndexError."""
    try:
        if not isinstance(index, bool):
            return operator.index(index)
    except TypeError:
        pass
    raise IndexError(
        "a device array is indexed by integers, slices, ... and None, not by "
        f"{type(index).__name__}: index the numpy array that copy_to_host() returns"
    )


def transposed(shape: Shape, strides: Shape, axes: Sequence[int]) -> ViewGeometry:
    """Return the view with another order of axes. Raises ValueError."""
    return _geometry_of(_array_of(shape, strides).transpose(axes))


def squeezed(shape: Shape, strides: Shape, axes: tuple[int, ...] | None) -> ViewGeometry:
    """Return the view without all axes of length 1, or without ``axes``. Raises ValueError."""
    return _geometry_of(_array_of(shape, strides).squeeze(axes))


def broadcast(shape: Shape, strides: Shape, target: Shape) -> ViewGeometry:
    """Return the view that repeats elements to fill a shape. Raises ValueError."""
    return _geometry_of(np.broadcast_to(_array_of(shape, strides), target))


# ---- other shapes ------------------------------------------------------------------------------


def reshaped(shape: Shape, strides: Shape, target: Shape, order: Any) -> ViewGeometry | None:
    """Return the view with another shape; None if only a copy has it. Raises ValueError."""
    array = _array_of(shape, strides)
    contiguous = _array_of(shape, packed_strides(shape, 1, order))
    resolved = contiguous.reshape(target, order=order)  # raises ValueError for another size
    try:
        return _geometry_of(array.reshape(resolved.shape, order=order, copy=False))
    except ValueError:
        return None


def merged_axes(shape: Shape, *strides: Shape) -> list[MergedAxis]:
    """Merge neighboring axes that are one axis in each of several arrays of one shape, and drop
    axes of length 1."""
    merged: list[MergedAxis] = []
    for axis, extent in enumerate(shape):
        steps = tuple(s[axis] for s in strides)
        if extent == 1:
            continue
        if merged and all(
            outer == extent * inner for outer, inner in zip(merged[-1].strides, steps)
        ):
            merged[-1] = MergedAxis(merged[-1].extent * extent, steps)
        else:
            merged.append(MergedAxis(extent, steps))
    return merged
