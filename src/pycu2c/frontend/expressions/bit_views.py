"""Numbers and arrays with another dtype: ``x.view(int32)``, ``floats[8:16].view(float4)``.

A view of an array with another dtype has the elements of the array as units of its starts and
steps. An access combines the bits of these elements, or splits the number into them.
"""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import BY_NAME
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import Array, Scalar
from pycu2c.frontend.calls.arguments import argument_nodes, named_scalar
from pycu2c.frontend.evaluation_order import assign_temporary, assign_unless_invariant
from pycu2c.frontend.expressions import arithmetic, array_views
from pycu2c.frontend.expressions.array_views import ArrayValue
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements.exceptions import raise_if
from pycu2c.frontend.values import Value
from pycu2c.ir.bit_patterns import (
    component_view,
    elements_per_number,
    is_reinterpreted,
    is_viewable,
    store_bits,
    with_bits_of,
)
from pycu2c.ir.builders import binary, integer, scalar_type
from pycu2c.ir.nodes import Const, Expr, Member, Store, View
from pycu2c.ir.views import multiply, stride_inside_field
from pycu2c.ops.operators import FLOORDIV, MOD, NE

_SIZE_ERROR = (
    "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
    "last axis of the array."
)


def number_view(x: Expr, target: Scalar, span: Span) -> Expr:
    """Lower ``x.view(dtype)`` of a number."""
    dtype = scalar_type(x).dtype
    if dtype.size != target.dtype.size or not (is_viewable(dtype) and is_viewable(target.dtype)):
        fail(
            "argument-type",
            Label(span, f"this is `{dtype}`, which cannot be viewed as `{target}`"),
            hint="view an integer or float as a type of the same size: float32 as int32",
        )
    return with_bits_of(x, target.dtype, span)


def array_view(context: FunctionContext, array: ArrayValue, node: ast.Call) -> ArrayValue:
    """Lower ``array.view(dtype)``, with NumPy's rules for the lengths."""
    (argument,) = argument_nodes(context, node, ("dtype",), "view")
    target, span = named_scalar(context, argument).dtype, context.span(node)
    view = array_views.whole_view(array, span)
    source = view.type.dtype
    if source == target:
        return array
    number = target.fields[0].dtype if target.is_vector else target
    if not (is_viewable(source) and is_viewable(number)) or number.size % source.size:
        fail(
            "argument-type",
            Label(span, f"this is `{view.type}`, which cannot be viewed as `{target}`"),
            hint="view integers and floats as a type of the same or of a larger size, or as "
            "vectors of such a type",
        )
    ratio = target.size // source.size
    if ratio == 1:
        return replace(view, type=replace(view.type, dtype=target), span=span)
    if not view.axes or not _has_contiguous_rows(view):
        fail(
            "argument-type",
            Label(array.span, f"`{view.type}`: the elements along its last axis may have gaps"),
            hint="view a contiguous array, uint8[::1], or a slice of it with step 1",
        )
    length = _checked_length(context, view.lengths[-1], ratio, span)
    step = multiply(integer(ratio, span), view.steps[-1])
    return replace(
        view,
        steps=(*view.steps[:-1], step),
        lengths=(*view.lengths[:-1], length),
        type=Array(target, view.type.ndim, "A"),
        span=span,
    )


def _has_contiguous_rows(view: View) -> bool:
    """Return whether the elements along the last axis are known to be contiguous."""
    array_type, step, axis = view.array.type, view.steps[-1], view.axes[-1]
    assert isinstance(array_type, Array)
    if not isinstance(step, Const) or step.value != elements_per_number(view):
        return False
    if axis < 0:
        return stride_inside_field(view, axis) == 1
    is_last = array_views.has_linear_index(view) or axis == array_type.ndim - 1
    return array_type.layout == "C" and is_last and not view.path


def _checked_length(context: FunctionContext, length: Expr, ratio: int, span: Span) -> Expr:
    """Return how many numbers of a larger dtype the last axis has; report a remainder."""
    known = assign_unless_invariant(context, length, "length")
    count = integer(ratio, span)
    remainder = arithmetic.binary(context, MOD, known, count, span)
    if not isinstance(remainder, Const):
        raise_if(context, binary(NE, remainder, integer(0, span), span), (_SIZE_ERROR,), [], span)
    elif remainder.value:
        hint = f"its length must be a multiple of {ratio}"
        fail(
            "argument-type",
            Label(span, f"{remainder.value} elements of the last axis remain"),
            hint=hint,
        )
    return arithmetic.binary(context, FLOORDIV, known, count, span)


def store_number(context: FunctionContext, target: View, number: Expr, span: Span) -> None:
    """Emit the store of a number in the element of a view without axes."""
    value = arithmetic.coerce(number, target.type.element)
    if is_reinterpreted(target) and target.type.dtype.is_vector:
        vector = assign_temporary(context, value, "vector")
        for field in target.type.dtype.fields:
            part = Member(vector, field.name, Scalar(field.dtype), span)
            store_number(context, component_view(target, field.name, span), part, span)
        return
    if not is_reinterpreted(target):
        context.emit(Store(target.array, target.first, value, span, target.path))
        return
    unsigned = BY_NAME[f"uint{target.type.dtype.bits}"]
    bits = assign_temporary(context, with_bits_of(value, unsigned, span), "bits")
    context.emit_all(store_bits(target, bits, span))


def reject_reinterpreted(value: Value, reader: str) -> None:
    """Report a view with another dtype that code would access by a pointer."""
    if isinstance(value, View) and is_reinterpreted(value):
        hint = f"{reader}; index the view, or view the array where it is used"
        fail(
            "argument-type",
            Label(value.span, f"a view with another dtype: `{value.type}`"),
            hint=hint,
        )


def check_aligned(value: Value, span: Span, how: str) -> None:
    """Check that a field of a record is aligned for a pointer; ``how`` says how to make it so."""
    if not isinstance(value, View) or not value.path:
        return
    record = array_views.array_type(value.array).dtype
    if record.alignment % value.type.dtype.alignment:
        fail(
            "argument-type",
            Label(span, f"a field of a record that is packed: `{value.type}`"),
            hint=f"make the dtype {how}",
        )
