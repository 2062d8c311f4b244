"""Legalize operators on float16 and bfloat16 to correctly rounded helper calls.

Operators without a helper are computed in float32 and rounded back.
"""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, let, scalar_type
from pycu2c.ops.intrinsics.floats.half import NEGATION, OPERATOR_INTRINSICS
from pycu2c.ops.operators import MUL, NEG, POW

_FLOAT = Scalar(FLOAT32)
_DOUBLE = Scalar(FLOAT64)


def half_binary(e: ir.Binary, fresh: Callable[[str], str]) -> ir.Expr | None:
    """Legalize ``a * b`` to ``mul_f16(a, b)``, and ``a ** 2`` to ``mul_f16(a, a)``; else None."""
    if e.op in OPERATOR_INTRINSICS:
        return ir.Apply(OPERATOR_INTRINSICS[e.op], (e.left, e.right), e.type, e.span)
    if e.op is not POW or not isinstance(e.right, ir.Const) or e.right.value != 2:
        return None
    product = OPERATOR_INTRINSICS[MUL]
    return let(e.left, "base", fresh, lambda base: ir.Apply(product, (base, base), e.type, e.span))


def half_unary(e: ir.Unary) -> ir.Expr:
    """Legalize ``-a`` to ``neg_f16(a)``, and ``+a`` to ``a``."""
    return ir.Apply(NEGATION, (e.operand,), e.type, e.span) if e.op is NEG else e.operand


def promote_to_float(e: ir.Binary) -> ir.Binary:
    """Return the operator on float32 operands."""
    result_type = _FLOAT if e.type == scalar_type(e.left) else e.type
    return replace(
        e, left=operand_to_float(e.left), right=operand_to_float(e.right), type=result_type
    )


def operand_to_float(e: ir.Expr) -> ir.Expr:
    """Return an operand converted to float32."""
    return cast(e, _FLOAT)


def round_to_half(value: ir.Expr, old: ir.Expr) -> ir.Expr:
    """Convert a float32 result to the type of the original operation."""
    return value if value.type == old.type else cast(value, scalar_type(old))


def half_cast(e: ir.Cast) -> ir.Expr:
    """Convert in steps that have helpers: half types convert to and from float32 and float64."""
    source, target = scalar_type(e.operand).dtype, e.type.dtype
    if source is target or not (source.is_half or target.is_half):
        return e
    if source.is_half:
        as_float: ir.Expr = ir.Cast(e.operand, _FLOAT, e.span)
        return as_float if target is FLOAT32 else half_cast(ir.Cast(as_float, e.type, e.span))
    if source in (FLOAT32, FLOAT64):
        return e
    intermediate = _FLOAT if source.bits <= 16 else _DOUBLE
    return ir.Cast(ir.Cast(e.operand, intermediate, e.span), e.type, e.span)
