"""``a.reshape(rows, columns)``, ``a.ravel()``: views of contiguous arrays with another shape."""

from __future__ import annotations

import ast
import math
from functools import reduce

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.frontend.calls.arguments import argument_nodes
from pycu2c.frontend.evaluation_order import assign_unless_invariant, evaluate_in_order
from pycu2c.frontend.expressions import arithmetic, array_views
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.expressions.array_views import ArrayValue, array_type
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements.exceptions import raise_if
from pycu2c.frontend.value_checks import is_array, reject, require_number
from pycu2c.frontend.values import TupleValue, Value
from pycu2c.ir.builders import binary, integer, logical, scalar_type
from pycu2c.ir.nodes import Apply, Cast, Const, Dim, Expr, LogicalOp, Select, View
from pycu2c.ir.print_format import FormatField, Piece
from pycu2c.ir.views import linear_start
from pycu2c.ops.intrinsics.memory.subscripts import slice_stop
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, FLOORDIV, GT, LT, NE

_SHAPE_HINT = "write the lengths, one of them -1 for the remaining length: a.reshape(4, -1)"


def reshaped(context: FunctionContext, array: ArrayValue, node: ast.Call) -> View:
    """Lower ``array.reshape(shape)`` and ``array.reshape(2, -1)``."""
    if node.keywords:
        fail(
            "call",
            Label(context.span(node.keywords[0]), "reshape() takes only the shape"),
            hint="the order is C: the last axis varies fastest",
        )
    values = evaluate_in_order(context, node.args)
    shape = [i for v in values for i in (v.items if isinstance(v, TupleValue) else (v,))]
    if not shape:
        fail(
            "argument-count", Label(context.span(node), "reshape() needs a shape"), hint=_SHAPE_HINT
        )
    lengths = [require_integer(require_number(value, "a length")) for value in shape]
    return _reshape(context, array, lengths, context.span(node))


def raveled(context: FunctionContext, array: ArrayValue, node: ast.Call) -> View:
    """Lower ``array.ravel()``."""
    span = context.span(node)
    if node.args or node.keywords:
        fail("argument-count", Label(span, "ravel() takes no arguments"), hint="write a.ravel()")
    return flattened(context, array, span)


def from_buffer(context: FunctionContext, node: ast.Call) -> Value:
    """Lower ``ffi.from_buffer(array)``: all elements, for a C function."""
    (argument,) = argument_nodes(context, node, ("cdata",), "from_buffer")
    array, span = context.value(argument), context.span(node)
    if not is_array(array):
        hint = "from_buffer() takes an array"
        reject(array, "argument-type", hint)
    return flattened(context, array, span)


def is_reshapable(array: ArrayValue) -> bool:
    """Return whether the elements of an array are known to be contiguous."""
    return array_type(array).layout == "C" and not array_views.whole_view(array, array.span).path


def flattened(context: FunctionContext, array: ArrayValue, span: Span) -> View:
    """Return the elements of a contiguous array along one axis."""
    return _reshape(context, array, [integer(-1, span)], span)


def _reshape(context: FunctionContext, array: ArrayValue, shape: list[Expr], span: Span) -> View:
    source_type = array_type(array)
    view = array_views.whole_view(array, span)
    if not is_reshapable(array):
        fail(
            "reshape",
            Label(array.span, f"`{source_type}`: its elements may not be contiguous"),
            hint="reshape a contiguous array, float32[:, ::1], or a slice of its rows",
        )
    lengths = _lengths(context, view, shape, span)
    result = Array(source_type.dtype, len(lengths), "C")
    first = (assign_unless_invariant(context, linear_start(view), "length"),)
    steps = array_views.contiguous_steps(lengths, span)
    return View(view.array, first, (0,) * len(lengths), steps, tuple(lengths), result, span)


def _lengths(context: FunctionContext, view: View, shape: list[Expr], span: Span) -> list[Expr]:
    """Return the requested lengths, with -1 replaced by the remaining length."""
    size = arithmetic.product(context, list(view.lengths), span)
    inferred_axes = [i for i, e in enumerate(shape) if isinstance(e, Const) and e.value < 0]
    others = [e for i, e in enumerate(shape) if i not in inferred_axes]
    if len(inferred_axes) > 1:
        fail(
            "reshape",
            Label(shape[inferred_axes[1]].span, "only one length can be -1"),
            hint=_SHAPE_HINT,
        )
    _check_size(size, others, bool(inferred_axes), span)
    requested = [assign_unless_invariant(context, e, "length") for e in shape]
    lengths = _with_inferred(context, size, requested, span)
    is_checked = all(isinstance(e, Const) for e in (size, *others))
    if others and not is_checked:
        _raise_unless_filled(context, size, requested, lengths, span)
    return lengths


def _with_inferred(
    context: FunctionContext, size: Expr, requested: list[Expr], span: Span
) -> list[Expr]:
    """Return the lengths, with a negative one replaced by the remaining length."""
    if all(map(_is_nonnegative, requested)):
        return requested
    one = integer(1, span)
    known = [_unless_negative(e, e, one) for e in requested]
    remaining = size
    if not all(e is one for e in known):
        known_size = arithmetic.product(context, known, span)
        divisor = Apply(REGISTRY["max"], (known_size, one), WEAK_INT, span)
        remaining = arithmetic.binary(context, FLOORDIV, size, divisor, span)
    remaining = assign_unless_invariant(context, remaining, "length")
    lengths = (_unless_negative(e, e, remaining) for e in requested)
    return [assign_unless_invariant(context, e, "length") for e in lengths]


def _unless_negative(length: Expr, value: Expr, negative_value: Expr) -> Expr:
    """Return ``value if length >= 0 else negative_value``."""
    if _is_nonnegative(length):
        return value
    if isinstance(length, Const):
        return negative_value
    is_negative = binary(LT, length, integer(0, length.span), length.span)
    return Select(is_negative, negative_value, value, WEAK_INT, length.span)


def _is_nonnegative(length: Expr) -> bool:
    """Return whether a length is known not to be negative when the kernel is compiled."""
    match length:
        case Const(value=value):
            return value >= 0
        case Dim():
            return True
        case Cast(operand=operand):
            return not scalar_type(operand).dtype.is_signed and scalar_type(operand).dtype.size < 8
        case _:
            return False


def _raise_unless_filled(
    context: FunctionContext, size: Expr, requested: list[Expr], lengths: list[Expr], span: Span
) -> None:
    """Emit the check that the elements fill the shape, as NumPy does, and end the thread if not."""
    failed = _differs(arithmetic.product(context, lengths, span), size, span)
    negatives = [
        _unless_negative(e, integer(0, span), integer(1, span))
        for e in requested
        if not _is_nonnegative(e)
    ]
    if len(negatives) > 1:
        count = reduce(lambda a, b: binary(ADD, a, b, span), negatives)
        failed = logical(LogicalOp.OR, failed, binary(GT, count, integer(1, span), span), span)
    length_field = FormatField(WEAK_INT)
    shape_fields: list[Piece] = [length_field]
    for _ in lengths[1:]:
        shape_fields += [",", length_field]
    text = ("cannot reshape array of size ", length_field, " into shape (", *shape_fields, ")")
    raise_if(context, failed, text, [size, *requested], span)


def _differs(requested: Expr, size: Expr, span: Span) -> Expr:
    """Return whether two numbers of elements differ: ``n < k`` for those of ``a[:k]``."""
    match requested, size:
        case Const(value=k), Apply(intrinsic=intrinsic, arguments=(Const(value=stop), n)) if (
            intrinsic is slice_stop and k == stop
        ):
            return binary(LT, n, requested, span)
    return binary(NE, requested, size, span)


def _check_size(size: Expr, others: list[Expr], has_inferred_axis: bool, span: Span) -> None:
    """Check the number of elements if it is known at compile time."""
    constants = [int(e.value) for e in others if isinstance(e, Const)]
    if not isinstance(size, Const) or len(constants) < len(others):
        return
    requested, available = math.prod(constants), int(size.value)
    if (requested == 0 or available % requested) if has_inferred_axis else available != requested:
        shown_shape = ", ".join(map(str, constants)) + (", …" if has_inferred_axis else "")
        fail(
            "reshape",
            Label(span, f"{available} elements do not fill ({shown_shape})"),
            hint=_SHAPE_HINT,
        )
