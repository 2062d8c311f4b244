"""Views of arrays: elements, slices, fields and transposes.

A view is an array, a start index, and a step and a length for each axis. A view of a view is a view
of the same array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeAlias, TypeGuard

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.limits import MAX_ARRAY_ELEMENTS
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, Layout
from pycu2c.frontend import hints
from pycu2c.frontend.expressions.arithmetic import integer_hint, to_index
from pycu2c.frontend.value_checks import is_array
from pycu2c.frontend.values import ArraySelect, TupleValue, Value
from pycu2c.ir import views
from pycu2c.ir.bit_patterns import component_view, is_reinterpreted, load_bits
from pycu2c.ir.builders import binary, cast, const, integer, scalar_type
from pycu2c.ir.expressions import component_type
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Cast,
    Const,
    Dim,
    Expr,
    Load,
    Select,
    Unary,
    Var,
    View,
)
from pycu2c.ir.walk import children, path_indices
from pycu2c.ops.intrinsics.builtins import range_trip_count
from pycu2c.ops.intrinsics.memory.subscripts import (
    from_start,
    index_from_end,
    slice_back,
    slice_start,
    slice_stop,
)
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.operators import ADD, FLOORDIV, LT, SUB

ArrayValue: TypeAlias = Var | View


@dataclass(frozen=True, slots=True)
class SliceBounds:
    """``start:stop:step`` in a subscript; omitted bounds are None."""

    start: Expr | None
    stop: Expr | None
    step: int | Expr
    span: Span


@dataclass(frozen=True, slots=True)
class EllipsisIndex:
    """``...`` in a subscript."""

    span: Span


Subscript: TypeAlias = Expr | SliceBounds | EllipsisIndex


def array_type(array: ArrayValue | ArraySelect) -> Array:
    assert isinstance(array.type, Array)
    return array.type


def has_axes(value: Value) -> TypeGuard[ArrayValue | ArraySelect]:
    """Return whether a value is an array or array selection with at least one axis."""
    return (is_array(value) or isinstance(value, ArraySelect)) and array_type(value).ndim > 0


def length(array: ArrayValue, axis: int, span: Span) -> Expr:
    """Return ``array.shape[axis]``, a literal if the kernel fixes the shape."""
    if isinstance(array, View):
        return array.lengths[axis]
    shape = array_type(array).shape
    return integer(shape[axis], span) if shape is not None else Dim(array, axis, span)


def whole_view(array: ArrayValue, span: Span) -> View:
    """Return an array as a view of all its elements."""
    if isinstance(array, View):
        return array
    whole_type = array_type(array)
    axes = tuple(range(whole_type.ndim))
    zeros = tuple(integer(0, span) for _ in axes)
    ones = tuple(integer(1, span) for _ in axes)
    lengths = tuple(length(array, axis, span) for axis in axes)
    return View(array, zeros, axes, ones, lengths, whole_type, span)


def subscript_value(array: ArrayValue, subscripts: list[Subscript], span: Span) -> Expr:
    """Return ``array[subscripts]``: the element, or a view; a record is a view without axes."""
    view = subscript_view(array, subscripts, span)
    return view if view.axes or is_record(view) else load_element(view, span)


def subscript_view(array: ArrayValue, subscripts: list[Subscript], span: Span) -> View:
    """Return ``array[subscripts]`` as a view; an element is a view without axes."""
    owner_type = array_type(array)
    items = _expand_ellipsis(subscripts, owner_type, span)
    check_subscripts(items, owner_type)
    indices = [item for item in items if not isinstance(item, (SliceBounds, EllipsisIndex))]
    if len(indices) < owner_type.ndim or is_record(array):
        return _sliced_view(whole_view(array, span), items, span)
    return element_view(array, tuple(indices), span)


def element_view(array: ArrayValue, indices: tuple[Expr, ...], span: Span) -> View:
    """Return the view of the element at one index for each axis."""
    element_type = Array(array_type(array).dtype, 0, "C")
    if isinstance(array, Var):
        return View(array, indices, (), (), (), element_type, span)
    view_indices = tuple(
        _nonnegative_index(array, axis, index) for axis, index in enumerate(indices)
    )
    all_indices, path = views.array_indices(array, view_indices)
    first = list(all_indices)
    for axis, array_axis in enumerate(array.axes):
        if array_axis >= 0 and not _is_array_axis(array, axis):
            first[array_axis] = _mark_from_start(first[array_axis])
    return View(array.array, tuple(first), (), (), (), element_type, span, path)


def _mark_from_start(index: Expr) -> Expr:
    """Mark an index as one that does not count from the end."""
    if isinstance(index, Const):
        return index
    return Apply(from_start, (index,), scalar_type(index), index.span)


def _expand_ellipsis(subscripts: list[Subscript], owner_type: Array, span: Span) -> list[Subscript]:
    """Return one item for each axis; ``...`` and missing indices become whole axes."""
    ellipses = [item for item in subscripts if isinstance(item, EllipsisIndex)]
    missing = owner_type.ndim - (len(subscripts) - len(ellipses))
    if missing < 0 or len(ellipses) > 1:
        report_index_count(owner_type, len(subscripts), span)
    whole_axes = [SliceBounds(None, None, 1, span) for _ in range(missing)]
    position = subscripts.index(ellipses[0]) if ellipses else len(subscripts)
    return [*subscripts[:position], *whole_axes, *subscripts[position + len(ellipses) :]]


def report_index_count(owner_type: Array, count: int, span: Span) -> NoReturn:
    """Report too many indices, or too few for one element."""
    indices, axes = hints.count_phrase(count, "index"), hints.count_phrase(owner_type.ndim, "axis")
    fail(
        "index-count",
        Label(span, f"{indices} for `{owner_type}`, which has {axes}"),
        hint=hints.single_field_hint(owner_type) or _index_hint(owner_type.ndim),
    )


def _index_hint(axes: int) -> str:
    if axes == 0:
        return "write a[()] for its element; to write it, pass a.reshape(1)"
    names = f"write one for each axis: a[{', '.join(_INDEX_NAMES[:axes])}]"
    is_tuple = ", where i is a number, and not a tuple, as cuda.grid(2) returns"
    return names + is_tuple if axes == 1 else names


_INDEX_NAMES = "ijklmnopqrstuvwx"


def check_subscripts(items: list[Subscript], owner_type: Array) -> None:
    """Check that indices are integers, and that literals are within a known length."""
    for axis, item in enumerate(items):
        bounds = (item.start, item.stop, item.step) if isinstance(item, SliceBounds) else (item,)
        for index in bounds:
            if isinstance(index, (EllipsisIndex, int)) or index is None:
                continue
            _check_index_type(index)
            if isinstance(index, Const) and owner_type.shape and not isinstance(item, SliceBounds):
                count = owner_type.shape[axis]
                if not -count <= index.value < count:
                    _report_out_of_range(index, count, axis)


def _report_out_of_range(index: Expr, count: int, axis: int | None = None) -> NoReturn:
    subject = "this" if axis is None else f"axis {axis}"
    text = f"{subject} has {hints.count_phrase(count, 'element')}"
    fail("index-range", Label(index.span, text), hint=hints.valid_indices(count))


def _check_index_type(index: Expr) -> None:
    index_type = scalar_type(index)
    if not index_type.dtype.is_integer:
        fail("index-type", Label(index.span, f"this is `{index_type}`"), hint=integer_hint(index))
    to_index(index)


# ---- views -------------------------------------------------------------------------------------


def _sliced_view(view: View, items: list[Subscript], span: Span) -> View:
    starts = views.start_indices(view)
    axes: list[int] = []
    steps: list[Expr] = []
    lengths: list[Expr] = []
    for position, (axis, item) in enumerate(zip(view.axes, items)):
        assert not isinstance(item, EllipsisIndex)
        start_axis, stride = views.start_position(view, position), view.steps[position]
        if not isinstance(item, SliceBounds):
            starts[start_axis] = views.add_scaled(
                starts[start_axis], stride, _nonnegative_index(view, position, item)
            )
            continue
        start, count = _extent(item, view.lengths[position])
        starts[start_axis] = views.add_scaled(starts[start_axis], stride, start)
        axes.append(axis)
        step = integer(item.step, span) if isinstance(item.step, int) else item.step
        steps.append(views.multiply(step, stride))
        lengths.append(count)
    result = replace(
        views.with_starts(view, starts), axes=tuple(axes), steps=tuple(steps), span=span
    )
    result = replace(result, lengths=tuple(lengths))
    return replace(result, type=_view_type(result))


def _view_type(view: View) -> Array:
    """Return the type of a view, with its contiguity.

    A view is contiguous if it has unit steps along the last axes of a contiguous array, and takes
    all of them but the first one whole.
    """
    whole_type = array_type(view.array)
    ndim = len(view.axes)
    if any(axis < 0 for axis in view.axes):
        return Array(view.type.dtype, ndim, "C" if _is_packed_field(view) else "A")
    if has_linear_index(view):
        is_packed = all(map(are_equal, view.steps, contiguous_steps(view.lengths, view.span)))
        is_whole = whole_type.layout == "C" and is_packed and not view.path
        return Array(view.type.dtype, ndim, "C" if is_whole else "A")
    last = tuple(range(whole_type.ndim - ndim, whole_type.ndim))
    has_unit_steps = all(isinstance(step, Const) and step.value == 1 for step in view.steps)
    inner_axes = zip(view.axes[1:], view.lengths[1:], view.first[whole_type.ndim - ndim + 1 :])
    layout: Layout = "C" if not ndim else "A"
    if whole_type.layout == "C" and has_unit_steps and view.axes == last and not view.path:
        if all(_covers_axis(view.array, *extent) for extent in inner_axes):
            layout = "C"
    return Array(view.type.dtype, ndim, layout)


def _is_packed_field(view: View) -> bool:
    """Return whether a view's elements are contiguous within one field of one record."""
    extents = _subarray_extents(view)
    axis_count = len(path_indices(view.path))
    # an axis inside a record is the complement of its number in the path
    expected = tuple(~number for number in range(axis_count - len(view.axes), axis_count))
    has_unit_steps = all(isinstance(step, Const) and step.value == 1 for step in view.steps)
    field_positions = [n for n, step in enumerate(view.path) if isinstance(step, str)]
    field_axes = len(view.path) - 1 - field_positions[-1]  # axes of the innermost field
    lengths = zip(view.lengths[1:], extents[axis_count - len(view.axes) + 1 :])
    is_whole = all(isinstance(n, Const) and n.value == extent for n, extent in lengths)
    return has_unit_steps and view.axes == expected and len(view.axes) <= field_axes and is_whole


def _subarray_extents(view: View) -> list[int]:
    """Return the extents of the subarray axes along the view's path."""
    element_type, extents = array_type(view.array).element, []
    for step in view.path:
        if not isinstance(step, str):
            extents.append(element_type.dtype.extents[0])
        element_type = component_type(element_type, step)
    return extents


def has_linear_index(view: View) -> bool:
    """Return whether the axes of a view are strides of the array's linear index."""
    return views.has_linear_start(view) or sum(axis >= 0 for axis in view.axes) > len(view.first)


def contiguous_steps(lengths: Sequence[Expr], span: Span) -> tuple[Expr, ...]:
    """Return the steps of a C-contiguous view with these lengths."""
    steps: list[Expr] = [integer(1, span)]
    for count in reversed(lengths[1:]):
        steps.append(views.multiply(count, steps[-1]))
    return tuple(reversed(steps[: len(lengths)]))


def are_equal(a: Expr, b: Expr, arrays: tuple[str, str] | None = None) -> bool:
    """Return whether two numbers are provably equal, if two arrays of these names are the same."""
    match a, b:
        case Const(), Const():
            return a.value == b.value
        case Var(), Var():
            return a.name == b.name or (a.name, b.name) == arrays
        case (Dim(), Dim()) if a.axis != b.axis:
            return False
        case (Binary(), Binary()) if a.op is not b.op:
            return False
        case (Unary(), Unary()) if a.op is not b.op:
            return False
        case (Apply(), Apply()) if a.intrinsic is not b.intrinsic or not a.intrinsic.is_pure:
            return False
        case (
            (Dim(), Dim())
            | (Binary(), Binary())
            | (Apply(), Apply())
            | (Unary(), Unary())
            | (Select(), Select())
            | (Cast(), Cast())
        ):
            pairs = zip(children(a), children(b), strict=True)
            return a.type == b.type and all(are_equal(x, y, arrays) for x, y in pairs)
        case _:
            return a is b


def _covers_axis(array: Var, axis: int, count: Expr, first: Expr) -> bool:
    is_at_start = isinstance(first, Const) and first.value == 0
    shape = array_type(array).shape
    if shape is not None:
        return is_at_start and isinstance(count, Const) and count.value == shape[axis]
    return is_at_start and isinstance(count, Dim) and count.array.name == array.name


def _nonnegative_index(view: View, axis: int, index: Expr) -> Expr:
    """Return an index of the view that does not count from the end."""
    if _is_array_axis(view, axis):
        return index  # equals the index of the array itself
    count = view.lengths[axis]
    if isinstance(index, Const) and isinstance(count, Const):
        if not -count.value <= index.value < count.value:
            _report_out_of_range(index, int(count.value))
        return _sum(count, index) if index.value < 0 else index
    return Apply(index_from_end, (cast(index, WEAK_INT), count), WEAK_INT, index.span)


def _is_array_axis(view: View, axis: int) -> bool:
    if has_linear_index(view) or view.axes[axis] < 0:
        return False
    step, first = view.steps[axis], view.first[view.axes[axis]]
    is_at_start = isinstance(first, Const) and first.value == 0
    has_unit_step = isinstance(step, Const) and step.value == 1
    covers_axis = _covers_axis(view.array, view.axes[axis], view.lengths[axis], first)
    return has_unit_step and is_at_start and covers_axis


def _sum(a: Expr, b: Expr) -> Expr:
    return binary(ADD, cast(a, WEAK_INT), cast(b, WEAK_INT), b.span)


def _extent(bounds: SliceBounds, count: Expr) -> tuple[Expr, Expr]:
    """Return the start and the length of a slice."""
    span = bounds.span
    start: Expr
    stop: Expr
    if not isinstance(bounds.step, int):  # the sign of the step is the direction
        step = cast(bounds.step, WEAK_INT)
        is_backward = binary(LT, step, integer(0, span), span)
        pairs = zip(_backward_bounds(bounds, count), _forward_bounds(bounds, count))
        start, stop = (Select(is_backward, b, f, WEAK_INT, span) for b, f in pairs)
        return start, Apply(range_trip_count, (start, stop, step), WEAK_INT, span)
    if bounds.step < 0:
        start, stop = _backward_bounds(bounds, count)
        is_whole = bounds.start is None and bounds.stop is None
        distance = count if is_whole else _not_negative(binary(SUB, start, stop, span))
        return start, _count_steps(distance, bounds)
    start, stop = _forward_bounds(bounds, count)
    if isinstance(start, Const) and start.value == 0:
        return start, _count_steps(stop, bounds)
    return start, _count_steps(_not_negative(binary(SUB, stop, start, span)), bounds)


def _forward_bounds(bounds: SliceBounds, count: Expr) -> tuple[Expr, Expr]:
    """Return the start and the stop of ``a[1:n]``."""
    start: Expr = integer(0, bounds.span)
    if bounds.start is not None:
        start = _clipped(slice_start, bounds.start, count, bounds.span)
    if bounds.stop is None:
        return start, count
    return start, _clipped(slice_stop, bounds.stop, count, bounds.stop.span)


def _backward_bounds(bounds: SliceBounds, count: Expr) -> tuple[Expr, Expr]:
    """Return the start and the stop of ``a[::-1]`` or ``a[n:0:-2]``."""
    span = bounds.span
    ends = (binary(SUB, count, integer(1, span), span), integer(-1, span))
    start, stop = (
        end if bound is None else _clipped(slice_back, bound, count, bound.span)
        for bound, end in zip((bounds.start, bounds.stop), ends)
    )
    return start, stop


def _clipped(intrinsic: Intrinsic, bound: Expr, count: Expr, span: Span) -> Expr:
    """Return a bound of a slice as an index from the start."""
    bound = cast(bound, WEAK_INT)
    if isinstance(bound, Const) and isinstance(count, Const):
        step = -1 if intrinsic is slice_back else 1
        return const(slice(int(bound.value), None, step).indices(int(count.value))[0], span)
    if intrinsic is slice_start and isinstance(bound, Const) and bound.value >= 0:
        return bound
    return Apply(intrinsic, (bound, count), WEAK_INT, span)


def _not_negative(e: Expr) -> Expr:
    if isinstance(e, Const):
        return const(max(int(e.value), 0), e.span)
    return Apply(REGISTRY["max"], (e, integer(0, e.span)), WEAK_INT, e.span)


def _count_steps(distance: Expr, bounds: SliceBounds) -> Expr:
    """Return how many steps of the slice cover a distance, rounded up."""
    assert isinstance(bounds.step, int)
    size = min(abs(bounds.step), MAX_ARRAY_ELEMENTS)  # longer steps never reach a second element
    if size == 1:
        return distance
    rounded = binary(ADD, distance, integer(size - 1, bounds.span), bounds.span)
    return binary(FLOORDIV, rounded, integer(size, bounds.span), bounds.span)


def transposed(array: ArrayValue, span: Span) -> ArrayValue:
    """Return ``array.T``, with the axes reversed."""
    view = whole_view(array, span)
    if len(view.axes) < 2:
        return array
    result = replace(
        view, axes=view.axes[::-1], steps=view.steps[::-1], lengths=view.lengths[::-1], span=span
    )
    return replace(result, type=_view_type(result))


# ---- records -----------------------------------------------------------------------------------


def is_record(array: ArrayValue) -> bool:
    return array_type(array).dtype.kind is DTypeKind.RECORD


def load_if_element(value: Value) -> Value:
    """Load an element from its view; other values are returned as they are."""
    is_element = isinstance(value, View) and not value.axes and not is_record(value)
    return load_element(value, value.span) if isinstance(value, View) and is_element else value


def field_view(view: View, name: str, span: Span) -> View | None:
    """Return ``array.name`` of a record, or of all records of an array; None without the field."""
    if not view.type.dtype.has_fields or view.type.dtype.field(name) is None:
        return None
    return view_of_field(view, name, span)


def record_fields(value: Value) -> TupleValue | None:
    """Return the fields of one record as a named tuple; None for other values."""
    if not is_array(value) or not is_record(value) or array_type(value).ndim:
        return None
    view = whole_view(value, value.span)
    fields = [view_of_field(view, field.name, value.span) for field in view.type.dtype.fields]
    names = tuple(field.name for field in view.type.dtype.fields)
    return TupleValue(tuple(map(load_if_element, fields)), value.span, names)


def view_of_field(view: View, name: str, span: Span) -> View:
    """Return the view of a field; a subarray adds its axes."""
    if is_reinterpreted(view):
        return component_view(view, name, span)
    field = view.type.dtype.field(name)
    assert field is not None
    layout: Layout = "A" if view.axes else "C"
    extents, outer_axes = field.dtype.extents, len(path_indices(view.path))
    field_type = Array(field.dtype.innermost, len(view.axes) + len(extents), layout)
    zeros = tuple(integer(0, span) for _ in extents)
    return replace(
        view,
        axes=(*view.axes, *(~(outer_axes + n) for n in range(len(extents)))),
        steps=(*view.steps, *(integer(1, span) for _ in extents)),
        lengths=(*view.lengths, *(integer(n, span) for n in extents)),
        path=(*view.path, name, *zeros),
        type=field_type,
        span=span,
    )


def load_element(view: View, span: Span) -> Expr:
    """Return the element of a view without axes."""
    if is_reinterpreted(view):
        return load_bits(view, span)
    return views.field_at_path(Load(view.array, view.first, span), view.path, span)
