"""Compute with views: map indices of a view to indices of the array, and compose views."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ir.expressions import Path, component_type, field_type
from pycu2c.ir.walk import path_indices, with_path_indices
from pycu2c.ops.operators import ADD, MUL, SUB


def array_of(e: ir.Expr) -> ir.Var | None:
    """Return the array that an expression is, or is a view or an element of; None for others."""
    array = e.array if isinstance(e, ir.View | ir.ElementOf) else e
    return array if isinstance(array, ir.Var) and isinstance(array.type, Array) else None


def start_indices(view: ir.View) -> list[ir.Expr]:
    """Return the start of a view along each axis of the array, then along the axes of fields."""
    return [*view.first, *path_indices(view.path)]


def start_position(view: ir.View, axis: int) -> int:
    """Return the position in ``start_indices`` of the start of an axis of the view."""
    axis_in_array = view.axes[axis]
    return axis_in_array if axis_in_array >= 0 else len(view.first) + ~axis_in_array


def with_starts(view: ir.View, starts: Sequence[ir.Expr]) -> ir.View:
    """Return a view with other start indices."""
    count = len(view.first)
    path = with_path_indices(view.path, starts[count:])
    return replace(view, first=tuple(starts[:count]), path=path)


def array_indices(view: ir.View, indices: tuple[ir.Expr, ...]) -> tuple[tuple[ir.Expr, ...], Path]:
    """Return the indices and path in the array: ``v[j]`` of ``v = a[i, 2:]`` is ``a[i, 2 + j]``."""
    starts = start_indices(view)
    for axis, (step, index) in enumerate(zip(view.steps, indices)):
        position = start_position(view, axis)
        starts[position] = add_scaled(starts[position], step, index)
    shifted = with_starts(view, starts)
    return shifted.first, shifted.path


def itemsize_ratio(view: ir.View) -> int:
    """Return the size of an element of the array, in elements of the view."""
    array_type = view.array.type
    assert isinstance(array_type, Array)
    return array_type.dtype.size // view.type.dtype.size


def stride_inside_field(view: ir.View, axis: int) -> int:
    """Return the stride of an axis inside a field, in elements of the view."""
    array_type = view.array.type
    assert isinstance(array_type, Array)
    positions = [n for n, step in enumerate(view.path) if not isinstance(step, str)]
    element = field_type(array_type.element, view.path[: positions[~axis] + 1])
    return element.dtype.size // view.type.dtype.size


def field_at_path(value: ir.Expr, path: Path, span: Span) -> ir.Expr:
    """Return the field of ``value`` at ``path``: ``value.corners[2].x``."""
    for step in path:
        component = component_type(scalar_type(value), step)
        if isinstance(step, str):
            value = ir.Member(value, step, component, span)
        else:
            value = ir.Item(value, step, component, span)
    return value


def has_linear_start(view: ir.View) -> bool:
    """Return whether a view has a linear start index into an array of more axes."""
    assert isinstance(view.array.type, Array)
    return len(view.first) == 1 and view.array.type.ndim > 1


def linear_start(view: ir.View) -> ir.Expr:
    """Return the linear index of the first element of a contiguous view."""
    array_type = view.array.type
    assert isinstance(array_type, Array)
    total = view.first[0]
    for axis, index in enumerate(view.first[1:], start=1):
        length: ir.Expr = ir.Dim(view.array, axis, index.span)
        if array_type.shape is not None:
            length = const(array_type.shape[axis], index.span)
        total = add_scaled(multiply(length, total), const(1, index.span), index)
    return total


def linear_element(view: ir.View, index: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the linear index in the array of the element ``index`` of a contiguous view."""
    return (add_scaled(linear_start(view), const(1, index.span), index),)


def compose_views(outer: ir.View, inner: ir.View) -> ir.View:
    """Return ``inner``, a view of the view ``outer``, as a view of the array."""
    if len(inner.first) < len(outer.axes):
        first, path = linear_element(outer, inner.first[0]), (*outer.path, *inner.path)
        return replace(inner, array=outer.array, first=first, path=path)
    outer_count = len(path_indices(outer.path))
    axes = tuple(outer.axes[a] if a >= 0 else ~(~a + outer_count) for a in inner.axes)
    one = const(1, inner.span)
    outer_steps = (outer.steps[a] if a >= 0 else one for a in inner.axes)
    steps = tuple(map(multiply, outer_steps, inner.steps))
    first, outer_path = array_indices(outer, inner.first)
    path = (*outer_path, *inner.path)
    return ir.View(outer.array, first, axes, steps, inner.lengths, inner.type, inner.span, path)


def add_scaled(start: ir.Expr, step: ir.Expr, index: ir.Expr) -> ir.Expr:
    """Return ``start + step * index``, simplified."""
    offset = multiply(step, index)
    if isinstance(start, ir.Const) and start.value == 0:
        return offset
    if isinstance(offset, ir.Const) and offset.value == 0:
        return start
    if isinstance(offset, ir.Const) and offset.value < 0:
        negated = const(-int(offset.value), offset.span, offset.type)
        return binary(SUB, *_common_type(start, negated), index.span)
    return binary(ADD, *_common_type(start, offset), index.span)


def multiply(step: ir.Expr, index: ir.Expr) -> ir.Expr:
    """Return ``step * index``, simplified."""
    for factor in (step, index):
        if isinstance(factor, ir.Const) and factor.value == 0:
            return factor
    for factor, other in ((step, index), (index, step)):
        if isinstance(factor, ir.Const) and factor.value == 1:
            return other
    return binary(MUL, *_common_type(step, index), index.span)


def _common_type(a: ir.Expr, b: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Convert two integers to one type: int, unless they have the same type."""
    kind: Scalar = scalar_type(a) if a.type == b.type else WEAK_INT
    return cast(a, kind), cast(b, kind)
