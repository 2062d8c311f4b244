"""Legalize operators on complex numbers to calls of helper functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import negation, scalar_type
from pycu2c.ops.intrinsics.floats.complex import EQUALITY, OPERATOR_INTRINSICS, POWER
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, MUL, NE, POW

# returns an expression that may occur twice, and the variable to bind, if any
BindOnce: TypeAlias = Callable[[ir.Expr, str], tuple[ir.Expr, ir.Var | None]]


def complex_binary(e: ir.Binary, bind_once: BindOnce) -> ir.Expr:
    """Legalize ``a * b`` to ``mul_c64(a, b)``, and ``a ** 2`` to ``mul_c64(a, a)``."""
    operands = (e.left, e.right)
    if e.op in (EQ, NE):
        equal = ir.Apply(EQUALITY, operands, WEAK_BOOL, e.span)
        return equal if e.op is EQ else negation(equal)
    if e.op is not POW:
        return ir.Apply(OPERATOR_INTRINSICS[e.op], operands, e.type, e.span)
    if _constant(e.right) != 2:
        return ir.Apply(POWER, operands, e.type, e.span)
    base, variable = bind_once(e.left, "base")
    square = ir.Apply(OPERATOR_INTRINSICS[MUL], (base, base), e.type, e.span)
    return square if variable is None else ir.Let(variable.name, e.left, square, e.span)


def complex_abs(e: ir.Apply, bind_once: BindOnce) -> ir.Expr:
    """Legalize ``abs(z)`` to ``hypot(z.x, z.y)``."""
    (operand,), result_type = e.arguments, scalar_type(e)
    z, variable = bind_once(operand, "z")
    components = tuple(
        ir.Member(z, f.name, result_type, e.span) for f in scalar_type(z).dtype.fields
    )
    magnitude = ir.Apply(REGISTRY["math.hypot"], components, result_type, e.span)
    return magnitude if variable is None else ir.Let(variable.name, operand, magnitude, e.span)


def _constant(e: ir.Expr) -> float | None:
    """Return the value of a literal without an imaginary part."""
    match e:
        case ir.Pack(parts=(ir.Const(value=real), ir.Const(value=0))):
            return real
        case _:
            return None
