"""Which floats are certainly not negative: squares, absolute values, and sums of these."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pycu2c.analysis.value_numbering import value_number
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, DIV, MUL, POW

_NEVER_NEGATIVE = (REGISTRY["abs"], REGISTRY["math.fabs"], REGISTRY["math.exp"])


def is_nonnegative(e: ir.Expr, values: Mapping[str, ir.Expr]) -> bool:
    """Return whether a float is positive, 0.0 or NaN, but never -0.0.

    ``values`` has the values of the variables that are assigned once; they are 0 before.
    """
    pending, visited = [e], set[str]()
    while pending:
        current = pending.pop()
        if isinstance(current, ir.Var) and current.name in values:
            if current.name not in visited:
                visited.add(current.name)
                pending.append(values[current.name])
            continue
        operands = _deciding_operands(current)
        if operands is None:
            return False
        pending += operands
    return True


def _deciding_operands(e: ir.Expr) -> tuple[ir.Expr, ...] | None:
    """Return the operands that must not be negative so that a float is not; None if it may be."""
    match e:
        case ir.Const(value=value):
            return () if math.copysign(1.0, value) > 0 else None
        case ir.Binary(op=op, right=ir.Const(value=exponent)) if op is POW:
            return () if exponent % 2 == 0 else None
        case ir.Binary(op=op, left=left, right=right) if op in (ADD, MUL, DIV):
            is_square = op is MUL and value_number(left) == value_number(right) is not None
            return () if is_square else (left, right)
        case ir.Cast(operand=operand) if isinstance(operand.type, Scalar):
            return (operand,) if operand.type.dtype.is_float else None
        case ir.Apply(intrinsic=intrinsic) if intrinsic in _NEVER_NEGATIVE:
            return ()
        case ir.Apply(intrinsic=intrinsic, arguments=arguments):
            return arguments if intrinsic is REGISTRY["math.sqrt"] else None
        case _:
            return None
