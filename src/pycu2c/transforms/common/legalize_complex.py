"""Legalize operators on complex numbers to calls of helper functions."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import let, negation, scalar_type
from pycu2c.ops.intrinsics.floats.complex import EQUALITY, OPERATOR_INTRINSICS, POWER
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, MUL, NE, POW


def complex_binary(e: ir.Binary, fresh: Callable[[str], str]) -> ir.Expr:
    """Legalize ``a * b`` to ``mul_c64(a, b)``, and ``a ** 2`` to ``mul_c64(a, a)``."""
    operands = (e.left, e.right)
    if e.op in (EQ, NE):
        equal = ir.Apply(EQUALITY, operands, WEAK_BOOL, e.span)
        return equal if e.op is EQ else negation(equal)
    if e.op is not POW:
        return ir.Apply(OPERATOR_INTRINSICS[e.op], operands, e.type, e.span)
    if _constant(e.right) != 2:
        return ir.Apply(POWER, operands, e.type, e.span)
    product = OPERATOR_INTRINSICS[MUL]
    return let(e.left, "base", fresh, lambda base: ir.Apply(product, (base, base), e.type, e.span))


def complex_abs(e: ir.Apply, fresh: Callable[[str], str]) -> ir.Expr:
    """Legalize ``abs(z)`` to ``hypot(z.x, z.y)``."""
    (operand,), result_type = e.arguments, scalar_type(e)

    def magnitude(z: ir.Expr) -> ir.Expr:
        fields = scalar_type(z).dtype.fields
        components = tuple(ir.Member(z, f.name, result_type, e.span) for f in fields)
        return ir.Apply(REGISTRY["math.hypot"], components, result_type, e.span)

    return let(operand, "z", fresh, magnitude)


def _constant(e: ir.Expr) -> float | None:
    """Return the value of a literal without an imaginary part."""
    match e:
        case ir.Pack(parts=(ir.Const(value=real), ir.Const(value=0))):
            return real
        case _:
            return None
