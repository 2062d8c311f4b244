"""Views taken apart: which element of the array an element of a view is."""

from __future__ import annotations

from dataclasses import replace

from pycu2c.ir.construct import binary, cast, const, scalar_type
from pycu2c.ir.nodes import Const, Dim, Expr, View
from pycu2c.operators import ADD, MUL, SUB
from pycu2c.types import WEAK_INT, Array, Scalar


def indices_in_array(view: View, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """``v[j]`` of ``v = a[i, 2:]`` -> the indices ``i, 2 + j`` of ``a``."""
    out = list(view.first)
    for axis, step, index in zip(view.axes, view.steps, indices):
        out[axis] = shifted(out[axis], step, index)
    return tuple(out)


def is_flat(view: View) -> bool:
    """Whether a view counts the elements of an array with several axes."""
    assert isinstance(view.array.type, Array)
    return len(view.first) == 1 and view.array.type.ndim > 1


def flat_first(view: View) -> Expr:
    """The number of the first element of a contiguous view."""
    kind = view.array.type
    assert isinstance(kind, Array)
    total = view.first[0]
    for axis, index in enumerate(view.first[1:], start=1):
        length: Expr = Dim(view.array, axis, index.span)
        if kind.shape is not None:
            length = const(kind.shape[axis], index.span)
        total = shifted(scaled(length, total), const(1, index.span), index)
    return total


def numbered(view: View, index: Expr) -> tuple[Expr, ...]:
    """An element of a contiguous view by its number, in the array."""
    return (shifted(flat_first(view), const(1, index.span), index),)


def composed(outer: View, inner: View) -> View:
    """``inner``, a view of the view ``outer``, as a view of the array."""
    path = (*outer.path, *inner.path)
    if len(inner.first) < len(outer.axes):
        first = numbered(outer, inner.first[0])
        return replace(inner, array=outer.array, first=first, path=path)
    axes = tuple(outer.axes[axis] for axis in inner.axes)
    steps = tuple(scaled(outer.steps[a], s) for a, s in zip(inner.axes, inner.steps))
    first = indices_in_array(outer, inner.first)
    return View(outer.array, first, axes, steps, inner.lengths, inner.type, inner.span, path)


def shifted(start: Expr, step: Expr, index: Expr) -> Expr:
    """``start + step * index``, without what changes nothing."""
    offset = scaled(step, index)
    if isinstance(start, Const) and start.value == 0:
        return offset
    if isinstance(offset, Const) and offset.value == 0:
        return start
    if isinstance(offset, Const) and offset.value < 0:
        less = const(-int(offset.value), offset.span, offset.type)
        return binary(SUB, *_agreed(start, less), index.span)
    return binary(ADD, *_agreed(start, offset), index.span)


def scaled(step: Expr, index: Expr) -> Expr:
    """``step * index``."""
    for factor in (step, index):
        if isinstance(factor, Const) and factor.value == 0:
            return factor
    for factor, other in ((step, index), (index, step)):
        if isinstance(factor, Const) and factor.value == 1:
            return other
    return binary(MUL, *_agreed(step, index), index.span)


def _agreed(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Two whole numbers in one type: int, unless both are of the same one."""
    kind: Scalar = scalar_type(a) if a.type == b.type else WEAK_INT
    return cast(a, kind), cast(b, kind)
