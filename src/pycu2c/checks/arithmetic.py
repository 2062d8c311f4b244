"""Check integer divisors, the amounts of shifts, and conversions of floats to integers."""

from __future__ import annotations

from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.base.types import WEAK_FLOAT, Scalar
from pycu2c.checks.context import CheckContext, Guard, all_of, compare, or_record
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, const, scalar_type
from pycu2c.ops.operators import FLOORDIV, GE, GT, LE, LT, MOD, NE, POW, SHL, SHR, Operator


def guard_operation(context: CheckContext, e: ir.Expr, checked: ir.Expr) -> ir.Expr:
    """Return an operation that records a finding before it has an undefined result."""
    if "arithmetic" not in context.groups:
        return checked
    match e, checked:
        case ir.Binary(), ir.Binary() if scalar_type(e.left).dtype.is_integer:
            return _guard_binary(context, e, checked)
        case ir.Cast(), ir.Cast():
            return _guard_conversion(context, e, checked)
        case _:
            return checked


def _guard_binary(context: CheckContext, e: ir.Binary, checked: ir.Binary) -> ir.Expr:
    kind, right = scalar_type(e.right), context.ranges.of(e.right)
    valid = _valid_operands(e.op, kind)
    if valid is None or valid.contains(right) or (valid.low == 1 and right.high < 0):
        return checked
    operand, binding = context.bind(checked.right, "operand")
    if e.op in (FLOORDIV, MOD):
        condition = compare(NE, operand, const(0, e.span, kind))
    else:
        condition = all_of(
            (
                compare(GE, operand, const(valid.low, e.span, kind)),
                compare(LE, operand, const(valid.high, e.span, kind)),
            )
        )
    left, left_binding = context.bind(checked.left, "operand")
    failure = context.failure("arithmetic", e.span, e.op.symbol, {"operand": operand})
    guard = Guard((*left_binding, *binding), or_record(condition, failure), skips=False)
    return guard.expression(ir.Binary(e.op, left, operand, e.type, e.span))


def _valid_operands(op: Operator, kind: Scalar) -> Interval | None:
    """Return the valid right operands; for divisors the positive ones; None if all are valid."""
    if op in (FLOORDIV, MOD):
        return Interval(1, kind.dtype.maximum)
    if op in (SHL, SHR):
        return Interval(0, kind.dtype.bits - 1)
    return Interval(0, kind.dtype.maximum) if op is POW else None


def _guard_conversion(context: CheckContext, e: ir.Cast, checked: ir.Cast) -> ir.Expr:
    """Guard a conversion of a float: it is undefined for NaN, and beyond the integer type."""
    source, target = e.operand.type, e.type
    if not isinstance(source, Scalar) or not (source.dtype.is_float and target.dtype.is_integer):
        return checked
    operand, binding = context.bind(checked.operand, "operand")
    wide = cast(operand, WEAK_FLOAT)  # which represents the limits
    low, high = target.dtype.minimum, target.dtype.maximum
    above_low = (
        compare(GE, wide, const(float(low), e.span))
        if target.dtype.bits == 64 and low
        else compare(GT, wide, const(float(low - 1), e.span))
    )
    in_range = all_of((above_low, compare(LT, wide, const(float(high + 1), e.span))))
    failure = context.failure("arithmetic", e.span, str(target.dtype), {})
    guard = Guard(binding, or_record(in_range, failure), skips=False)
    return guard.expression(ir.Cast(operand, target, e.span))
