"""Check undefined arithmetic, integer overflow, and conversions that change a number.

The group ``arithmetic`` checks divisors, shifts, powers, and conversions of floats to integers. The
groups ``wrap`` and ``lossy`` check that results are exact. They are opt-in, as hashes and random
numbers wrap on purpose, and do not apply to the functions of this package.
"""

from __future__ import annotations

from pathlib import Path

from pycu2c.analysis.ranges.interval_arithmetic import Interval, all_values, exact_result, is_exact
from pycu2c.base.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_FLOAT, Scalar, int64, uint64
from pycu2c.checks.context import CheckContext, Guard, all_of, compare, or_record
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, GE, GT, LE, LT, NE

_PACKAGE = str(Path(__file__).parent.parent)
_PRECISION = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}  # bits of the significand


def guard_operation(context: CheckContext, e: ir.Expr, checked: ir.Expr) -> ir.Expr:
    """Return an operation that records a finding if its result is undefined, or not exact."""
    groups = context.groups
    if e.span.file.startswith(_PACKAGE):
        groups -= {"wrap", "lossy"}
    match e, checked:
        case ir.Binary(op=ops.ADD | ops.SUB | ops.MUL), ir.Binary() if "wrap" in groups:
            return _guard_overflow(context, e, checked)
        case ir.Unary(op=ops.NEG), ir.Unary() if "wrap" in groups:
            return _guard_overflow(context, _from_zero(e), _from_zero(checked))
        case ir.Binary(), ir.Binary() if "arithmetic" in groups:
            return _guard_operands(context, e, checked)
        case ir.Cast(), ir.Cast() if isinstance(e.operand.type, Scalar):
            return _guard_conversion(context, groups, e, checked)
        case _:
            return checked


def _guard_operands(context: CheckContext, e: ir.Binary, checked: ir.Binary) -> ir.Expr:
    """Guard a division by 0, and shifts and powers by an invalid number."""
    kind, right = scalar_type(e.right), context.ranges.of(e.right)
    valid = _valid_operands(e.op, kind) if scalar_type(e.left).dtype.is_integer else None
    if valid is None or valid.contains(right) or (valid.low == 1 and right.high < 0):
        return checked
    operand, binding = context.bind(checked.right, "operand")
    if e.op in (ops.FLOORDIV, ops.MOD):
        condition = compare(NE, operand, const(0, e.span, kind))
    else:
        low, high = (const(limit, e.span, kind) for limit in (valid.low, valid.high))
        condition = all_of((compare(GE, operand, low), compare(LE, operand, high)))
    left, left_binding = context.bind(checked.left, "operand")
    failure = context.failure("arithmetic", e.span, e.op.symbol, {"operand": operand})
    guard = Guard((*left_binding, *binding), or_record(condition, failure), predicated=False)
    return guard.expression(ir.Binary(e.op, left, operand, e.type, e.span))


def _valid_operands(op: ops.Operator, kind: Scalar) -> Interval | None:
    """Return the valid right operands; for divisors the positive ones; None if all are valid."""
    if op in (ops.FLOORDIV, ops.MOD):
        return Interval(1, kind.dtype.maximum)
    if op in (ops.SHL, ops.SHR):
        return Interval(0, kind.dtype.bits - 1)
    return Interval(0, kind.dtype.maximum) if op is ops.POW else None


def _from_zero(e: ir.Unary) -> ir.Binary:
    """Return a negation as a subtraction."""
    return ir.Binary(ops.SUB, const(0, e.span, e.type), e.operand, e.type, e.span)


def _guard_overflow(context: CheckContext, e: ir.Binary, checked: ir.Binary) -> ir.Expr:
    """Guard an addition, subtraction or multiplication that may wrap."""
    kind, ranges, symbol = scalar_type(e), context.ranges, e.op.symbol
    if not kind.dtype.is_integer:
        return checked
    exact = exact_result(e.op, ranges.of(e.left), ranges.of(e.right), kind.dtype)
    if is_exact(exact, kind):
        return checked
    left, left_binding = context.bind(checked.left, "operand")
    right, right_binding = context.bind(checked.right, "operand")
    operation = ir.Binary(e.op, left, right, kind, e.span)
    result = context.variable("result", kind, e.span)
    # ``recording.record`` takes large numbers for elements that do not exist
    values = {} if kind.dtype.bits == 64 else {"left": left, "right": right}
    failure = context.failure("arithmetic", e.span, str(kind.dtype), values, symbol)
    condition = or_record(_fits(operation, result), failure)
    bindings = *left_binding, *right_binding, (result, operation)
    return Guard(bindings, condition, predicated=False).expression(result)


def _fits(e: ir.Binary, wrapped: ir.Var) -> ir.Expr:
    """Return whether the result of an operation on two atoms did not wrap."""
    kind, left, right, span = e.type, e.left, e.right, e.span
    zero = const(0, span, kind)
    if kind.dtype.bits < 64:
        wide = uint64 if e.op is ops.MUL and not kind.dtype.is_signed else int64
        exact = binary(e.op, cast(left, wide), cast(right, wide), span)
        return compare(EQ, exact, cast(wrapped, wide))
    if e.op is ops.MUL:
        signed = kind.dtype.is_signed
        strong, name = (int64, "cuda.mul64hi") if signed else (uint64, "cuda.umul64hi")
        factors = cast(left, strong), cast(right, strong)
        high = ir.Apply(REGISTRY[name], factors, strong, span)
        sign = binary(ops.SHR, cast(wrapped, strong), const(63, span, strong), span)
        return compare(EQ, high, sign if signed else const(0, span, strong))
    if not kind.dtype.is_signed:
        return compare(GE, wrapped, left) if e.op is ops.ADD else compare(GE, left, right)
    # it does not fit if the result has another sign than both operands, of - than left and -right
    other = wrapped if e.op is ops.ADD else left
    signs = binary(
        ops.AND, binary(ops.XOR, left, wrapped, span), binary(ops.XOR, right, other, span), span
    )
    return compare(GE, signs, zero)


def _guard_conversion(
    context: CheckContext, groups: frozenset[CheckGroup], e: ir.Cast, checked: ir.Cast
) -> ir.Expr:
    source, target, group = scalar_type(e.operand), e.type.dtype, None
    if target.is_integer:
        group = "arithmetic" if source.dtype.is_float else "wrap" if source.dtype.is_integer else ""
    elif target in _PRECISION:
        group = "lossy"
    if group not in groups:
        return checked
    value, binding = context.bind(checked.operand, "operand")
    operand, interval = replace(e, operand=value), context.ranges.of(e.operand)
    conditions = _CONDITIONS[group](operand, source, interval)
    if not conditions:
        return checked
    name = "value" if source.dtype.is_signed else "unsigned"
    values = {name: value} if source.dtype.is_integer else {}
    detail = () if group == "arithmetic" else ("convert",)
    failure = context.failure("arithmetic", e.span, str(target), values, *detail)
    condition = or_record(all_of(conditions), failure)
    return Guard(binding, condition, predicated=False).expression(operand)


def _truncated(e: ir.Cast, source: Scalar, interval: Interval) -> list[ir.Expr]:
    """Return the conditions under which an integer type represents the integral part of a float."""
    return _in_range(cast(e.operand, WEAK_FLOAT), e.type)  # float64 represents the limits


def _in_range(value: ir.Expr, kind: Scalar) -> list[ir.Expr]:
    low, high = kind.dtype.minimum, kind.dtype.maximum
    above_low = compare(GT, value, const(float(low - 1), value.span))
    if kind.dtype.bits == 64 and low:
        above_low = compare(GE, value, const(float(low), value.span))
    return [above_low, compare(LT, value, const(float(high + 1), value.span))]


def _within_limits(e: ir.Cast, source: Scalar, interval: Interval) -> list[ir.Expr]:
    """Return the conditions under which an integer type represents an integer."""
    limits, conditions = all_values(e.type), []
    if interval.low < limits.low:
        conditions.append(compare(GE, e.operand, const(limits.low, e.span, source)))
    if interval.high > limits.high:
        conditions.append(compare(LE, e.operand, const(limits.high, e.span, source)))
    return conditions


def _represented(e: ir.Cast, source: Scalar, interval: Interval) -> list[ir.Expr]:
    """Return the conditions under which a float type represents an integer."""
    value, span, bound = e.operand, e.span, 1 << _PRECISION[e.type.dtype]
    if source.dtype.is_integer:
        if Interval(-bound, bound).contains(interval):
            return []
        wide = cast(e, WEAK_FLOAT)
        return [*_in_range(wide, source), compare(EQ, ir.Cast(wide, source, span), value)]
    if _PRECISION.get(source.dtype, 0) <= _PRECISION[e.type.dtype]:
        return []
    is_kept = compare(EQ, ir.Cast(e, source, span), value)
    fraction = ir.Binary(ops.MOD, value, const(1.0, span, source), source, span)
    has_fraction = compare(NE, fraction, const(0.0, span, source))
    return [ir.Logical(ir.LogicalOp.OR, is_kept, has_fraction, span)]


_CONDITIONS = {"arithmetic": _truncated, "wrap": _within_limits, "lossy": _represented}
