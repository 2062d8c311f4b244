"""Methods of numbers: ``z.conjugate()``, ``n.bit_count()``, ``x.view(int32)``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pycu2c.base.dtypes import BY_NAME, DTypeKind
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar
from pycu2c.frontend.calls.arguments import argument_nodes, named_scalar
from pycu2c.frontend.evaluation_order import has_effect, materialize
from pycu2c.frontend.expressions.arithmetic import coerce, evaluate_once
from pycu2c.frontend.expressions.bit_views import number_view
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.ir.builders import binary, cast, const, literal, scalar_type, truth
from pycu2c.ir.nodes import Apply, Expr
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, SUB


def call_method(context: FunctionContext, owner: Expr, node: ast.Call) -> Expr:
    """Lower ``owner.name(…)`` of a number."""
    assert isinstance(node.func, ast.Attribute)
    name, span = node.func.attr, context.span(node)
    if name in ("astype", "view"):
        (dtype,) = argument_nodes(context, node, ("dtype",), name)
        return _CONVERSIONS[name](owner, named_scalar(context, dtype), span)
    argument_nodes(context, node, (), name)
    return _METHODS[name](context, owner, span)


def _conjugate(context: FunctionContext, z: Expr, span: Span) -> Expr:
    if not scalar_type(z).dtype.is_complex:
        return z
    return Apply(REGISTRY["complex.conjugate"], (z,), z.type, span)


def _magnitude(n: Expr, span: Span) -> tuple[Expr, int]:
    """Return ``abs(n)`` in 32 or 64 bits, and the width; the least integer keeps its bits."""
    dtype = scalar_type(n).dtype
    width = max(dtype.bits, 32)
    working_type = BY_NAME[f"{'int' if dtype.is_signed or not dtype.is_integer else 'uint'}{width}"]
    wide = cast(n, Scalar(working_type))
    return (
        Apply(REGISTRY["abs"], (wide,), wide.type, span) if working_type.is_signed else wide
    ), width


def _bit_count(context: FunctionContext, n: Expr, span: Span) -> Expr:
    return Apply(REGISTRY["cuda.popc"], (_magnitude(n, span)[0],), WEAK_INT, span)


def _bit_length(context: FunctionContext, n: Expr, span: Span) -> Expr:
    magnitude, width = _magnitude(n, span)
    leading_zeros = Apply(REGISTRY["cuda.clz"], (magnitude,), WEAK_INT, span)
    return binary(SUB, const(width, span), leading_zeros, span)


def _is_integer(context: FunctionContext, x: Expr, span: Span) -> Expr:
    """Lower ``x.is_integer()`` as ``x - trunc(x) == 0``, which is false for infinities."""
    if scalar_type(x).dtype.is_integral:
        if has_effect(x):
            materialize(context, x, "value")
        return literal(True, span)
    wide = cast(x, Scalar(BY_NAME["float32"])) if scalar_type(x).dtype.is_half else x
    return evaluate_once(context, wide, lambda number: _equals_trunc(number, span))


def _equals_trunc(x: Expr, span: Span) -> Expr:
    truncated = Apply(REGISTRY["numpy.trunc"], (x,), x.type, span)
    return binary(EQ, binary(SUB, x, truncated, span), const(0.0, span, scalar_type(x)), span)


def _item(context: FunctionContext, x: Expr, span: Span) -> Expr:
    dtype = scalar_type(x).dtype
    if dtype.kind is DTypeKind.BOOL:
        return truth(x)
    return cast(x, WEAK_COMPLEX if dtype.is_complex else WEAK_FLOAT if dtype.is_float else WEAK_INT)


_METHODS: dict[str, Callable[[FunctionContext, Expr, Span], Expr]] = {
    "conjugate": _conjugate,
    "conj": _conjugate,
    "bit_count": _bit_count,
    "bit_length": _bit_length,
    "is_integer": _is_integer,
    "item": _item,
}


# ---- conversions ---------------------------------------------------------------------------------


def _astype(x: Expr, target_type: Scalar, span: Span) -> Expr:
    if target_type.dtype.kind is DTypeKind.BOOL:
        return cast(truth(x), target_type)
    return coerce(x, target_type)


_CONVERSIONS = {"astype": _astype, "view": number_view}
