"""Python compares its ints with its floats exactly; C makes a float of the int, and of
``2**53 + 1`` one of ``2**53``.

A conversion keeps the order of numbers, or makes two of them one. So it decides unless both sides
are the same then; and if they are, the float is whole, and an int unless it is 2**63.
"""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.analysis.ranges.intervals import Interval
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT
from pycu2c.base.values import MAX_EXACT_FLOAT_INT
from pycu2c.ir.builders import binary, cast, const, logical, negation
from pycu2c.ir.nodes import Apply, Binary, Expr, Let, LogicalOp, Select, Var
from pycu2c.ops.intrinsics.builtins import compared_as_float
from pycu2c.ops.operators import EQ, LT, MIRRORED, NE, Operator

_BEYOND = 2.0**63  # the least float over int64

Once = Callable[[Expr, str], tuple[Expr, Var | None]]


def int_beside_float(e: Binary) -> Expr | None:
    """The int that a comparison is about, if its other side is a float."""
    ints = [_number(side) for side in (e.left, e.right) if _number(side) is not side]
    return ints[0] if ints else None


def compared_exactly(e: Binary, reach: Interval, once: Once) -> Expr:
    """``compared(i) < x`` -> ``float(i) < x`` if that is the same, or
    ``float(i) == x ? x >= 2**63 || i < int(x) : float(i) < x``. ``reach``: where i lies."""
    op, span = e.op, e.span
    left, right = _number(e.left), _number(e.right)
    if Interval(-MAX_EXACT_FLOAT_INT, MAX_EXACT_FLOAT_INT).contains(reach):
        return binary(op, cast(left, WEAK_FLOAT), cast(right, WEAK_FLOAT), span)
    (a, outer), (b, inner) = once(left, "left"), once(right, "right")
    i, x, op = (b, a, MIRRORED[op]) if left is e.left else (a, b, op)
    found = _answer(op, i, x, span)
    for var, value in ((inner, right), (outer, left)):
        found = found if var is None else Let(var.name, value, found, span)
    return found


def _answer(op: Operator, i: Expr, x: Expr, span: Span) -> Expr:
    rounded = cast(i, WEAK_FLOAT)
    equal, is_int = binary(EQ, rounded, x, span), binary(LT, x, const(_BEYOND, span), span)
    exact = binary(op, cast(i, WEAK_INT), cast(x, WEAK_INT), span)
    if op.compute(0, 1):  # what holds of any int and a float beyond
        exact = logical(LogicalOp.OR, negation(is_int), exact, span)
    else:
        exact = logical(LogicalOp.AND, is_int, exact, span)
    if op is EQ:
        return logical(LogicalOp.AND, equal, exact, span)
    if op is NE:
        return logical(LogicalOp.OR, negation(equal), exact, span)
    return Select(equal, exact, binary(op, rounded, x, span), WEAK_BOOL, span)


def _number(e: Expr) -> Expr:
    is_marked = isinstance(e, Apply) and e.intrinsic is compared_as_float
    return e.arguments[0] if is_marked and isinstance(e, Apply) else e
