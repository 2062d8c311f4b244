"""float16 and bfloat16: every operation is computed in float32 and rounded back, which for + - * /
gives what rounding the exact result once gives."""

from __future__ import annotations

from dataclasses import replace

from pycu2c.dtypes import FLOAT32, FLOAT64
from pycu2c.ir.construct import cast, scalar_type
from pycu2c.ir.nodes import Binary, Cast, Expr
from pycu2c.types import Scalar

_FLOAT = Scalar(FLOAT32)
_DOUBLE = Scalar(FLOAT64)


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
