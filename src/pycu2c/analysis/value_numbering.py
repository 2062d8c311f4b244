"""Value numbers: keys that are equal for expressions of equal value, where no variable changes.

Source: Cocke 1970, local value numbering. Only arithmetic of variables and constants has a number,
since memory may change between two evaluations.
"""

from __future__ import annotations

from collections.abc import Hashable

from pycu2c.ir import nodes as ir
from pycu2c.ir import walk


def value_number(e: ir.Expr) -> Hashable | None:
    """Return the key of an expression; None if it reads memory or has an effect."""
    kind = operation(e)
    if kind is None or isinstance(e, ir.Var | ir.Const | ir.Dim):
        return kind
    operands = tuple(value_number(operand) for operand in walk.children(e))
    return None if None in operands else (kind, *operands)


def operation(e: ir.Expr) -> Hashable | None:
    """Return what an expression computes from its operands; None if it may read memory."""
    match e:
        case ir.Var():
            return e.name
        case ir.Binary(op=op) | ir.Unary(op=op) | ir.Logical(op=op):
            return (op, e.type)
        case ir.Const():
            return (repr(e.value), e.type)  # 0.0 and -0.0 are equal
        case ir.Dim(array=array, axis=axis):
            return (ir.Dim, array.name, axis, e.type)
        case ir.Cast() | ir.Select():
            return (type(e), e.type)
        case ir.Apply(intrinsic=intrinsic) if intrinsic.is_pure:
            return (intrinsic, e.type)
        case _:
            return None
