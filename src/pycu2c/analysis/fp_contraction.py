"""What surely gives the same number only if it is computed once. C compilers make one operation of
a product and a sum, rounded once, where they stand together, and elsewhere do not; under fastmath
they regroup products and multiply by what is 1 / x as well. Reads."""

from __future__ import annotations

from pycu2c.ir.nodes import Binary, Expr


def may_be_rounded_anew(e: Expr) -> bool:
    """Whether a node is arithmetic of floats, whose operands may be so, too, or variables of
    such."""
    return isinstance(e, Binary) and e.type.dtype.is_float
