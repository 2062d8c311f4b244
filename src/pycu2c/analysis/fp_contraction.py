"""Identify floating-point expressions that a C compiler may contract or reassociate.

A C compiler fuses a product and a sum into one FMA, rounded once, only where both are in the same
expression. Under fastmath it also regroups products and multiplies by reciprocals. So recomputing
such an expression elsewhere may give another result.
"""

from __future__ import annotations

from pycu2c.ir import nodes as ir


def may_be_contracted(e: ir.Expr) -> bool:
    """Return whether a node is floating-point arithmetic that contraction may change."""
    return isinstance(e, ir.Binary) and e.type.dtype.is_float
