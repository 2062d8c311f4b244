"""Legalize comparisons of ints with floats, which are exact in Python.

C converts the int to float, which rounds ``2**53 + 1`` to ``2**53``. The conversion preserves
order, but may merge two numbers. So it decides the comparison unless both sides are equal
afterwards. In this case the float is integral, and fits an int unless it is 2**63.
"""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT
from pycu2c.base.values import MAX_EXACT_FLOAT_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, let, logical, negation
from pycu2c.ops.intrinsics.builtins import compared_as_float
from pycu2c.ops.operators import EQ, LT, MIRRORED_COMPARISONS, NE, Operator

_INT64_END = 2.0**63  # the smallest float above the int64 range


def int_compared_with_float(e: ir.Binary) -> ir.Expr | None:
    """Return the int side of a comparison with a float, or None."""
    ints = [_unmarked(side) for side in (e.left, e.right) if _unmarked(side) is not side]
    return ints[0] if ints else None


def compare_exactly(e: ir.Binary, interval: Interval, fresh: Callable[[str], str]) -> ir.Expr:
    """Return an exact comparison.

    ``compared_as_float(i) < x`` -> ``float(i) < x`` if ``interval``, the range of i, allows it.
    Otherwise ``float(i) == x ? x >= 2**63 || i < int(x) : float(i) < x``.
    """
    op, span = e.op, e.span
    left, right = _unmarked(e.left), _unmarked(e.right)
    if Interval(-MAX_EXACT_FLOAT_INT, MAX_EXACT_FLOAT_INT).contains(interval):
        return binary(op, cast(left, WEAK_FLOAT), cast(right, WEAK_FLOAT), span)

    def compare(a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if left is e.left:  # the float
            return _exact_comparison(MIRRORED_COMPARISONS[op], b, a, span)
        return _exact_comparison(op, a, b, span)

    def bind_right(a: ir.Expr) -> ir.Expr:
        return let(right, "right", fresh, lambda b: compare(a, b))

    return let(left, "left", fresh, bind_right)


def _exact_comparison(op: Operator, i: ir.Expr, x: ir.Expr, span: Span) -> ir.Expr:
    rounded = cast(i, WEAK_FLOAT)
    equal, fits_int = binary(EQ, rounded, x, span), binary(LT, x, const(_INT64_END, span), span)
    exact = binary(op, cast(i, WEAK_INT), cast(x, WEAK_INT), span)
    holds_if_float_is_larger = op.compute(0, 1)
    if holds_if_float_is_larger:  # a float of at least 2**63 is
        exact = logical(ir.LogicalOp.OR, negation(fits_int), exact, span)
    else:
        exact = logical(ir.LogicalOp.AND, fits_int, exact, span)
    if op is EQ:
        return logical(ir.LogicalOp.AND, equal, exact, span)
    if op is NE:
        return logical(ir.LogicalOp.OR, negation(equal), exact, span)
    return ir.Select(equal, exact, binary(op, rounded, x, span), WEAK_BOOL, span)


def _unmarked(e: ir.Expr) -> ir.Expr:
    """Return the int in ``compared_as_float``, which marks the int side; else the expression."""
    is_marked = isinstance(e, ir.Apply) and e.intrinsic is compared_as_float
    return e.arguments[0] if is_marked and isinstance(e, ir.Apply) else e
