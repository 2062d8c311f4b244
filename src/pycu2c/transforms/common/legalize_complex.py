"""Operators on complex numbers -> calls of what computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir.builders import negation, scalar_type
from pycu2c.ir.nodes import Apply, Binary, Const, Expr, Let, Member, Pack, Var
from pycu2c.ops.intrinsics.floats.complex import EQUAL, OF_OPERATOR
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, MUL, NE, POW

# a form of an expression that may be written twice, and the variable to bind if it needs one
Once: TypeAlias = Callable[[Expr, str], tuple[Expr, Var | None]]


def complex_binary(e: Binary, once: Once) -> Expr:
    """``a * b`` -> ``mul_c64(a, b)``; ``a ** 2`` -> ``mul_c64(a, a)``."""
    operands = (e.left, e.right)
    if e.op in (EQ, NE):
        equal = Apply(EQUAL, operands, WEAK_BOOL, e.span)
        return equal if e.op is EQ else negation(equal)
    if e.op is not POW:
        return Apply(OF_OPERATOR[e.op], operands, e.type, e.span)
    if _constant(e.right) != 2:
        return Apply(REGISTRY["python.pow"], operands, e.type, e.span)
    base, bound = once(e.left, "base")
    square = Apply(OF_OPERATOR[MUL], (base, base), e.type, e.span)
    return square if bound is None else Let(bound.name, e.left, square, e.span)


def complex_abs(e: Apply, once: Once) -> Expr:
    """``abs(z)`` -> ``hypot(z.x, z.y)``."""
    (operand,), kind = e.arguments, scalar_type(e)
    z, bound = once(operand, "z")
    parts = tuple(Member(z, f.name, kind, e.span) for f in scalar_type(z).dtype.fields)
    size = Apply(REGISTRY["math.hypot"], parts, kind, e.span)
    return size if bound is None else Let(bound.name, operand, size, e.span)


def _constant(e: Expr) -> float | None:
    """The value of a literal that has no imaginary part."""
    match e:
        case Pack(parts=(Const(value=real), Const(value=0))):
            return real
        case _:
            return None
