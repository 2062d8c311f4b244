"""Check integer arithmetic that wraps, and conversions that change a number.

The groups ``wrap`` and ``lossy`` are opt-in, as hashes and random numbers wrap on purpose. The
functions of this package are not checked.
"""

from __future__ import annotations

from pathlib import Path

from pycu2c.analysis.ranges.interval_arithmetic import Interval, all_values, exact_result, is_exact
from pycu2c.base.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_FLOAT, Scalar, int64, uint64
from pycu2c.checks.context import CheckContext, Guard, all_of, compare, or_record
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, AND, EQ, GE, LE, LT, MOD, MUL, NE, NEG, SHR, SUB, XOR

_PACKAGE = str(Path(__file__).parent.parent)
_PRECISION = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}  # bits of the significand


def guard_result(context: CheckContext, e: ir.Expr, checked: ir.Expr) -> ir.Expr:
    """Return an operation that records a finding where its result is not the exact one."""
    if context.groups.isdisjoint(("wrap", "lossy")) or e.span.file.startswith(_PACKAGE):
        return checked
    match e, checked:
        case ir.Binary(op=op), ir.Binary() if op in (ADD, SUB, MUL):
            return _guard_arithmetic(context, e, checked)
        case ir.Unary(op=op), ir.Unary() if op is NEG:
            return _guard_arithmetic(context, _from_zero(e), _from_zero(checked))
        case ir.Cast(), ir.Cast():
            return _guard_conversion(context, e, checked)
        case _:
            return checked


def _from_zero(e: ir.Unary) -> ir.Binary:
    """Return a negation as a subtraction."""
    return ir.Binary(SUB, const(0, e.span, e.type), e.operand, e.type, e.span)


# ---- arithmetic --------------------------------------------------------------------------------


def _guard_arithmetic(context: CheckContext, e: ir.Binary, checked: ir.Binary) -> ir.Expr:
    kind, ranges, symbol = scalar_type(e), context.ranges, e.op.symbol
    if "wrap" not in context.groups or not kind.dtype.is_integer:
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
    return Guard(bindings, condition, skips=False).expression(result)


def _fits(e: ir.Binary, wrapped: ir.Var) -> ir.Expr:
    """Return whether the result of an operation on two atoms did not wrap."""
    kind, left, right, span = e.type, e.left, e.right, e.span
    zero = const(0, span, kind)
    if kind.dtype.bits < 64:
        wide = uint64 if e.op is MUL and not kind.dtype.is_signed else int64
        exact = binary(e.op, cast(left, wide), cast(right, wide), span)
        return compare(EQ, exact, cast(wrapped, wide))
    if e.op is MUL:
        signed = kind.dtype.is_signed
        strong, name = (int64, "cuda.mul64hi") if signed else (uint64, "cuda.umul64hi")
        factors = cast(left, strong), cast(right, strong)
        high = ir.Apply(REGISTRY[name], factors, strong, span)
        sign = binary(SHR, cast(wrapped, strong), const(63, span, strong), span)
        return compare(EQ, high, sign if signed else const(0, span, strong))
    if not kind.dtype.is_signed:
        return compare(GE, wrapped, left) if e.op is ADD else compare(GE, left, right)
    # it does not fit if the result has another sign than both operands, of - than left and -right
    other = wrapped if e.op is ADD else left
    signs = binary(AND, binary(XOR, left, wrapped, span), binary(XOR, right, other, span), span)
    return compare(GE, signs, zero)


# ---- conversions -------------------------------------------------------------------------------


def _guard_conversion(context: CheckContext, e: ir.Cast, checked: ir.Cast) -> ir.Expr:
    source = e.operand.type
    if not isinstance(source, Scalar):
        return checked
    value, binding = context.bind(checked.operand, "operand")
    operand, interval = replace(e, operand=value), context.ranges.of(e.operand)
    if source.dtype.is_integer and e.type.dtype.is_integer and "wrap" in context.groups:
        conditions = _within_limits(operand, source, interval)
    elif e.type.dtype in _PRECISION and "lossy" in context.groups:
        conditions = _represented(operand, source, interval)
    else:
        return checked
    if not conditions:
        return checked
    name = "value" if source.dtype.is_signed else "unsigned"
    values = {name: value} if source.dtype.is_integer else {}
    failure = context.failure("arithmetic", e.span, str(e.type.dtype), values, "convert")
    condition = or_record(all_of(conditions), failure)
    return Guard(binding, condition, skips=False).expression(operand)


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
        return [
            compare(GE, wide, const(float(source.dtype.minimum), span)),
            compare(LT, wide, const(float(source.dtype.maximum + 1), span)),
            compare(EQ, ir.Cast(wide, source, span), value),
        ]
    if _PRECISION.get(source.dtype, 0) <= _PRECISION[e.type.dtype]:
        return []
    is_kept = compare(EQ, ir.Cast(e, source, span), value)
    fraction = ir.Binary(MOD, value, const(1.0, span, source), source, span)
    has_fraction = compare(NE, fraction, const(0.0, span, source))
    return [ir.Logical(ir.LogicalOp.OR, is_kept, has_fraction, span)]
