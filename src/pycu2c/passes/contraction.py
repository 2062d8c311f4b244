"""What gives the same number only if it is computed once: C compilers make one operation of a
product and a sum, rounded once, where they stand together, and elsewhere do not. Reads."""

from __future__ import annotations

from pycu2c.ir.nodes import Binary, Expr
from pycu2c.operators import ADD, SUB


def may_be_contracted(e: Expr) -> bool:
    """Whether a node is a sum of floats: its operands may be products, or variables of such."""
    match e:
        case Binary(op=op, type=kind):
            return op in (ADD, SUB) and kind.dtype.is_float
        case _:
            return False
