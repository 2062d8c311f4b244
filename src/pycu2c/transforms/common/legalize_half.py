"""Operators on float16 and bfloat16 -> calls of what computes them, rounded once; what there is
no function for is computed in float32 and rounded back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import Apply, Binary, Cast, Const, Expr, Let, Unary, Var
from pycu2c.ops.intrinsics.floats.half import NEGATED, OF_OPERATOR
from pycu2c.ops.operators import MUL, NEG, POW

# a form of an expression that may be written twice, and the variable to bind if it needs one
Once: TypeAlias = Callable[[Expr, str], tuple[Expr, Var | None]]

_FLOAT = Scalar(FLOAT32)
_DOUBLE = Scalar(FLOAT64)


def half_binary(e: Binary, once: Once) -> Expr | None:
    """``a * b`` -> ``mul_f16(a, b)``; ``a ** 2`` -> ``mul_f16(a, a)``; None for the others."""
    if e.op in OF_OPERATOR:
        return Apply(OF_OPERATOR[e.op], (e.left, e.right), e.type, e.span)
    if e.op is not POW or not isinstance(e.right, Const) or e.right.value != 2:
        return None
    base, bound = once(e.left, "base")
    square = Apply(OF_OPERATOR[MUL], (base, base), e.type, e.span)
    return square if bound is None else Let(bound.name, e.left, square, e.span)


def half_unary(e: Unary) -> Expr:
    """``-a`` -> ``neg_f16(a)``; ``+a`` -> ``a``."""
    return Apply(NEGATED, (e.operand,), e.type, e.span) if e.op is NEG else e.operand


def in_float(e: Binary) -> Binary:
    """The operator on operands in float32."""
    kind = _FLOAT if e.type == scalar_type(e.left) else e.type
    return replace(e, left=half_cast_to(e.left), right=half_cast_to(e.right), type=kind)


def half_cast_to(e: Expr) -> Expr:
    """An operand in float32."""
    return cast(e, _FLOAT)


def half_result(value: Expr, old: Expr) -> Expr:
    """What was computed in float32, in the type that the operation has."""
    return value if value.type == old.type else cast(value, scalar_type(old))


def half_cast(e: Cast) -> Expr:
    """A conversion in steps that there are functions for: half types meet float32 and float64."""
    source, to = scalar_type(e.operand).dtype, e.type.dtype
    if source is to or not (source.is_half or to.is_half):
        return e
    if source.is_half:
        wide: Expr = Cast(e.operand, _FLOAT, e.span)
        return wide if to is FLOAT32 else half_cast(Cast(wide, e.type, e.span))
    if source in (FLOAT32, FLOAT64):
        return e
    middle = _FLOAT if source.bits <= 16 else _DOUBLE
    return Cast(Cast(e.operand, middle, e.span), e.type, e.span)
