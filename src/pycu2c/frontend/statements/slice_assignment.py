"""Assignments to slices: ``a[1:n] = 0``, ``a[i] = b[:, j]``; they become loops over elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import materialize, materialize_view
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements import slice_overlap
from pycu2c.frontend.statements.exceptions import raise_if
from pycu2c.frontend.value_checks import describe, is_array, require_value
from pycu2c.frontend.values import TupleValue, Value
from pycu2c.ir.builders import binary, integer, is_atom, logical
from pycu2c.ir.nodes import Apply, Binary, Body, Const, Expr, For, If, LogicalOp, Var, View
from pycu2c.ir.print_format import FormatField, Piece
from pycu2c.ops.intrinsics.memory.subscripts import slice_start, slice_stop
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, FLOORDIV, NE, SUB

StoreElement: TypeAlias = Callable[[View, Value], None]


def assign_slice(
    context: FunctionContext, target: View, value: Value, span: Span, store: StoreElement
) -> None:
    """Lower ``target = value`` element by element; the value is evaluated before the target."""
    check_slice_lengths(target, value, span)
    is_shifted = check_operands(context, target, value, span)
    source = materialize_source(context, value)
    target = materialize_view(context, target, "part")
    assign_elements(context, target, source, span, store, is_shifted=is_shifted)


def check_operands(context: FunctionContext, target: View, value: Value, span: Span) -> bool:
    """Check an array that is assigned; return whether it is shifted against the target."""
    if not is_array(value) or not array_views.array_type(value).ndim:
        return False
    source = array_views.whole_view(value, value.span)
    check_shapes(target, source, span)
    return slice_overlap.check_overlap(context, [target], [source], span) is not None


def assign_elements(
    context: FunctionContext,
    target: View,
    value: Value,
    span: Span,
    store: StoreElement,
    *,
    is_shifted: bool = False,
) -> None:
    """Assign a value to a target; both are evaluated already.

    A number is assigned to each element; elements of an array and items of a tuple pairwise.
    ``is_shifted``: the result of ``check_operands``.
    """
    if isinstance(value, TupleValue) and len(value.items) == 1:
        _broadcast_item(context, target, value.items[0], span, store)
    elif isinstance(value, TupleValue):
        _assign_items(context, target, value, span, store)
    elif isinstance(value, View) and value.axes:
        axes = run_time_axes(target, value)
        raise_unless_shapes_match(context, target, value, axes, span)
        backward = slice_overlap.backward_axes(target, value, span) if is_shifted else ()
        _assign_each(context, target, value, span, store, backward)
    else:
        _assign_each(context, target, value, span, store)


def _assign_each(
    context: FunctionContext,
    target: View,
    value: Value,
    span: Span,
    store: StoreElement,
    backward: Sequence[bool | Expr] = (),
) -> None:
    """Assign a value to each element; of an array, the element at the same indices."""
    loop_over_elements(
        context,
        target,
        span,
        lambda indices: store(
            array_views.element_view(target, indices, span), value_at(value, indices, span)
        ),
        backward,
    )


def _broadcast_item(
    context: FunctionContext, target: View, item: Value, span: Span, store: StoreElement
) -> None:
    """Assign the only item of a tuple to each element or row (NumPy's broadcasting)."""
    if len(target.axes) == 1 or not isinstance(item, TupleValue):
        _assign_each(context, target, item, span, store)
        return
    counter = Var(context.fresh("i"), WEAK_INT, span)
    with context.block() as statements:
        assign_elements(
            context, array_views.subscript_view(target, [counter], span), item, span, store
        )
    row_loop = For(
        counter, integer(0, span), target.lengths[0], integer(1, span), tuple(statements), span
    )
    context.emit(row_loop)


def materialize_source(context: FunctionContext, value: Value) -> Value:
    """Evaluate a number or tuple now; return an array as a view."""
    if isinstance(value, TupleValue):
        return materialize(context, value, "item")
    if is_array(value) and array_views.array_type(value).ndim:
        return materialize_view(context, array_views.whole_view(value, value.span), "source")
    number = require_value(value, "the value")
    return number if is_atom(number) else materialize(context, number, "value")


def loop_over_elements(
    context: FunctionContext,
    target: View,
    span: Span,
    use: Callable[[tuple[Var, ...]], None],
    backward: Sequence[bool | Expr] = (),
) -> None:
    """Emit a nest of loops over the axes, the last one innermost.

    backward: whether the loop over each axis runs from the last element to the first. If that is
        known at run time, there are loops for both directions.
    """

    def loop(is_backward: bool, counters: tuple[Var, ...]) -> Body:
        counter = Var(context.fresh("i"), WEAK_INT, span)
        length = target.lengths[len(counters)]
        with context.block() as statements:
            nest((*counters, counter))
        one = integer(1, span)
        if is_backward:
            last, end = binary(SUB, length, one, span), integer(-1, span)
            return (For(counter, last, end, end, tuple(statements), span),)
        return (For(counter, integer(0, span), length, one, tuple(statements), span),)

    def nest(counters: tuple[Var, ...]) -> None:
        axis = len(counters)
        if axis == len(target.axes):
            use(counters)
            return
        is_backward = backward[axis] if backward else False
        if isinstance(is_backward, bool):
            context.emit_all(loop(is_backward, counters))
        else:
            context.emit(If(is_backward, loop(True, counters), loop(False, counters), span))

    nest(())


def value_at(value: Value, counters: tuple[Var, ...], span: Span) -> Value:
    """Return what is assigned to an element of the target; axes of length 1 are broadcast."""
    if not isinstance(value, View) or not value.axes:
        return value
    pairs = zip(counters[len(counters) - len(value.axes) :], value.lengths)
    indices = [integer(0, span) if _is_constant_one(length) else i for i, length in pairs]
    return array_views.subscript_value(value, [*indices], span)


def _is_constant_one(length: Expr) -> bool:
    return isinstance(length, Const) and length.value == 1


def check_shapes(target: View, source: View, span: Span) -> None:
    """Report shapes that are known to differ."""
    target_lengths, source_lengths = target.lengths[::-1], source.lengths[::-1]
    may_match = len(source_lengths) <= len(target_lengths) and all(
        _is_constant_one(b)
        or not (isinstance(a, Const) and isinstance(b, Const))
        or a.value == b.value
        for a, b in zip(target_lengths, source_lengths)
    )
    if not may_match:
        fail(
            "slice-assign",
            Label(span, f"these elements have the shape {_shape(target)}"),
            Label(source.span, f"and these {_shape(source)}"),
            hint="assign a number, or an array of the same shape",
        )


def run_time_axes(target: View, source: View) -> list[int]:
    """Return the axes, counted from the last one, whose lengths may differ when the kernel runs.

    Axes of a source are broadcast only if their lengths are known to be 1.
    """
    return [
        axis
        for axis in range(-len(source.lengths), 0)
        if not _is_constant_one(source.lengths[axis])
        and not array_views.are_equal(target.lengths[axis], source.lengths[axis])
    ]


def raise_unless_shapes_match(
    context: FunctionContext, target: View, source: View, axes: list[int], span: Span
) -> None:
    """Emit the check that a source has the lengths of the target along some axes."""
    differences = [binary(NE, target.lengths[n], source.lengths[n], span) for n in axes]
    if differences:
        failed = reduce(lambda a, b: logical(LogicalOp.OR, a, b, span), differences)
        _raise_broadcast_error(context, failed, source.lengths, target.lengths, span)


def _raise_broadcast_error(
    context: FunctionContext,
    failed: Expr,
    source_lengths: Sequence[Expr],
    target_lengths: Sequence[Expr],
    span: Span,
) -> None:
    """Emit the statement that raises NumPy's error if a condition holds."""
    text = (
        *("could not broadcast input array from shape ", *_shape_fields(source_lengths)),
        *(" into shape ", *_shape_fields(target_lengths)),
    )
    raise_if(context, failed, text, [*source_lengths, *target_lengths], span)


def _shape_fields(lengths: Sequence[Expr]) -> list[Piece]:
    fields: list[Piece] = ["("]
    for _ in lengths:
        fields += [FormatField(WEAK_INT), ","]
    return [*fields, ")"] if len(lengths) == 1 else [*fields[:-1], ")"]


def _shape(view: View) -> str:
    texts = (str(n.value) if isinstance(n, Const) else "…" for n in view.lengths)
    return f"({', '.join(texts)}{',' * (len(view.lengths) == 1)})"


def _assign_items(
    context: FunctionContext, target: View, value: TupleValue, span: Span, store: StoreElement
) -> None:
    """Lower ``a[:3] = x, y, z``."""
    count = len(value.items)
    length = target.lengths[0]
    known_length = length.value if isinstance(length, Const) else count
    if (
        len(target.axes) > 1
        and known_length == count
        and all(isinstance(v, TupleValue) for v in value.items)
    ):
        for index, row in enumerate(value.items):
            row_view = array_views.subscript_view(target, [integer(index, span)], span)
            assign_elements(context, row_view, row, span, store)
        return
    if len(target.axes) != 1 or known_length != count:
        fail(
            "slice-assign",
            Label(span, f"these elements have the shape {_shape(target)}"),
            Label(value.span, f"and there {hints.count_phrase(count, 'item')}: {describe(value)}"),
            hint="a tuple is assigned to as many elements along one axis",
        )
    if not isinstance(length, Const):
        failed = binary(NE, length, integer(count, span), span)
        _raise_broadcast_error(context, failed, [integer(count, span)], [length], span)
    for index, item in enumerate(value.items):
        store(array_views.element_view(target, (integer(index, span),), span), item)


def check_slice_lengths(target: View, value: Value, span: Span) -> None:
    """Check that a slice such as ``a[1:3]`` can have as many elements as are assigned.

    Where lengths are known exactly, ``check_shapes`` compares them.
    """
    if isinstance(value, TupleValue) and len(target.axes) == 1:
        count = len(value.items)
        _check_count(target.lengths[0], count, span, Label(value.span, f"and {describe(value)}"))
    elif is_array(value) and array_views.array_type(value).ndim:
        source = array_views.whole_view(value, value.span)
        for target_length, source_length in zip(reversed(target.lengths), reversed(source.lengths)):
            count = _constant(source_length) or 0
            _check_count(target_length, count, span, Label(value.span, f"and these have {count}"))


def _check_count(length: Expr, count: int, span: Span, source_label: Label) -> None:
    max_count = None if isinstance(length, Const) else max_length(length)
    if max_count is not None and 1 != count > max_count:
        elements = hints.count_phrase(max_count, "element")
        text = f"there {'is' if max_count == 1 else 'are'} at most {elements}"
        hint = "assign a number, or as many as there are elements"
        fail("slice-assign", Label(span, text), source_label, hint=hint)


def max_length(length: Expr) -> int | None:
    """Return an upper bound of a slice's length, or None without one."""
    match length:
        case Const(value=value):
            return int(value)
        case Apply(intrinsic=intrinsic, arguments=(stop, _)) if intrinsic is slice_stop:
            bound = _constant(stop)
            return bound if bound is not None and bound >= 0 else None
        case Apply(intrinsic=intrinsic, arguments=(distance, _)) if intrinsic is REGISTRY["max"]:
            bound = max_length(distance)
            return None if bound is None else max(bound, 0)
        case Binary(op=op, left=stop, right=start) if op is SUB:
            return _constant_distance(start, stop)
        case Binary(op=op, left=Binary(op=inner_op, left=distance, right=addend), right=step) if (
            op is FLOORDIV and inner_op is ADD
        ):
            bound, added, divisor = max_length(distance), _constant(addend), _constant(step)
            if bound is None or added is None or not divisor:
                return None
            return (bound + added) // divisor
        case _:
            return None


def _constant_distance(start: Expr, stop: Expr) -> int | None:
    """Return the distance of two constant bounds that count from the same end, or None."""
    first, last = _constant_bound(start), _constant_bound(stop)
    if first is None or last is None or (first < 0) != (last < 0):
        return None
    return max(last - first, 0)


def _constant_bound(e: Expr) -> int | None:
    if isinstance(e, Apply) and e.intrinsic in (slice_start, slice_stop):
        return _constant(e.arguments[0])
    return _constant(e)


def _constant(e: Expr) -> int | None:
    return int(e.value) if isinstance(e, Const) else None
