"""Intervals of integers, and Python's integer arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from pycu2c.base.dtypes import INT64, DType, DTypeKind
from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_INT32, Scalar
from pycu2c.ops.operators import ADD, AND, FLOORDIV, MOD, MUL, OR, POW, SHL, SHR, SUB, XOR, Operator

INFINITY = 1 << 200  # exceeds any sum of bounds


@dataclass(frozen=True, slots=True)
class Interval:
    """All integers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def contains(self, other: Interval) -> bool:
        return self.low <= other.low and other.high <= self.high

    def join_with(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


UNBOUNDED = Interval(-INFINITY, INFINITY)
BOOL_RANGE = Interval(0, 1)


def is_integral(scalar: object) -> bool:
    """Return whether the values of a type are integers; bools count as 0 and 1."""
    return isinstance(scalar, Scalar) and scalar.dtype.is_integral


def all_values(scalar: object) -> Interval:
    """Return the interval of all values of a type; unbounded for floats and arrays."""
    if not isinstance(scalar, Scalar) or not scalar.dtype.is_integral:
        return UNBOUNDED
    return _integers(scalar.dtype)


@cache
def _integers(dtype: DType) -> Interval:
    return Interval(dtype.minimum, dtype.maximum)


def float_to_int_range(scalar: Scalar) -> Interval:
    """Return the interval of a float converted to an integer type.

    No float64 lies between 2**63 - 1024 and 2**63; larger floats give an undefined result.
    """
    full = all_values(scalar)
    return Interval(full.low, full.high - 1023) if scalar.dtype is INT64 else full


def is_exact(result: Interval, scalar: Scalar) -> bool:
    """Return whether an operation in a type gives its exact result.

    Either the result fits, or the ``narrow`` pass chose the type and has proved that it does.
    """
    return scalar == WEAK_INT32 or all_values(scalar).contains(result)


def fit_to_type(result: Interval, scalar: Scalar) -> Interval:
    """Return the interval after conversion to a type: the full type if the result may wrap."""
    full = all_values(scalar)
    if not is_exact(result, scalar):
        return full
    low, high = max(result.low, full.low), min(result.high, full.high)
    return Interval(low, high) if low <= high else full  # unreachable


def exact_result(op: Operator, a: Interval, b: Interval, dtype: DType) -> Interval:
    """Return the interval of an operator's exact result, before conversion to its type."""
    rule = _RULES.get(op)
    return UNBOUNDED if rule is None else rule(a, b, dtype.bits)


def negated(a: Interval) -> Interval:
    return Interval(-a.high, -a.low)


def bitwise_inverted(a: Interval, dtype: DType) -> Interval:
    """Return ``~a``; for an unsigned type, the maximum minus the value."""
    if dtype.kind is DTypeKind.UNSIGNED:
        return Interval(dtype.maximum - a.high, dtype.maximum - a.low)
    return Interval(~a.high, ~a.low)


def absolute(a: Interval) -> Interval:
    low = 0 if 0 in a else min(abs(a.low), abs(a.high))
    return Interval(low, max(abs(a.low), abs(a.high)))


def minimum_of(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.low, b.low), min(a.high, b.high))


def maximum_of(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


# ---- one rule per operator; ``bits`` is the operand width, for shifts ------------------------


def _hull(values: Iterable[int]) -> Interval:
    numbers = list(values)
    return Interval(min(numbers), max(numbers))


def _add(a: Interval, b: Interval, _: int) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def _sub(a: Interval, b: Interval, _: int) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def _mul(a: Interval, b: Interval, _: int) -> Interval:
    return _hull(x * y for x in (a.low, a.high) for y in (b.low, b.high))


def _floordiv(a: Interval, b: Interval, _: int) -> Interval:
    """Return the quotient: monotone in each operand on either side of 0; division by 0 gives 0."""
    divisors = {d for d in (b.low, b.high, -1, 1) if d in b and d != 0}
    quotients = [x // d for x in (a.low, a.high) for d in divisors]
    return _hull(quotients + [0] * (0 in b))


def _mod(a: Interval, b: Interval, _: int) -> Interval:
    """Return the modulus: it has the sign of the divisor and a smaller magnitude; modulo 0 is 0."""
    if a.low >= 0 and a.high < b.low:
        return a
    low, high = min(0, b.low + 1), max(0, b.high - 1)
    return Interval(low, min(high, a.high) if a.low >= 0 and b.low >= 0 else high)


def _pow(a: Interval, b: Interval, bits: int) -> Interval:
    if b.low != b.high or not 0 <= b.low <= bits:
        return UNBOUNDED
    return _hull(x**b.low for x in {a.low, a.high} | ({0} if 0 in a else set()))


def _shift_amounts(b: Interval, bits: int) -> list[int]:
    """Return the smallest and largest shift amounts inside the width."""
    low, high = max(b.low, 0), min(b.high, bits - 1)
    return [low, high] if low <= high else []


def _shl(a: Interval, b: Interval, bits: int) -> Interval:
    outside = b.low < 0 or b.high >= bits
    shifted = [x << s for x in (a.low, a.high) for s in _shift_amounts(b, bits)]
    return _hull(shifted + [0] * outside)


def _shr(a: Interval, b: Interval, bits: int) -> Interval:
    outside = b.low < 0 or b.high >= bits
    amounts = _shift_amounts(b, bits) + [bits] * outside
    return _hull(x >> s for x in (a.low, a.high) for s in amounts)


def _within_bits(a: Interval, b: Interval) -> Interval:
    """Return the interval of any bitwise operator: no more bits than the operands have."""
    bits = max(x.bit_length() for x in (a.low, a.high, b.low, b.high))
    negative = a.low < 0 or b.low < 0
    return Interval(-(1 << bits) if negative else 0, (1 << bits) - 1)


def _and(a: Interval, b: Interval, _: int) -> Interval:
    masks = [x.high for x in (a, b) if x.low >= 0]
    return Interval(0, min(masks)) if masks else _within_bits(a, b)


def _or(a: Interval, b: Interval, _: int) -> Interval:
    any_bits = _within_bits(a, b)
    return Interval(max(a.low, b.low), any_bits.high) if any_bits.low >= 0 else any_bits


def _xor(a: Interval, b: Interval, _: int) -> Interval:
    return _within_bits(a, b)


_RULES: dict[Operator, Callable[[Interval, Interval, int], Interval]] = {
    ADD: _add, SUB: _sub, MUL: _mul, FLOORDIV: _floordiv, MOD: _mod, POW: _pow,
    SHL: _shl, SHR: _shr, AND: _and, OR: _or, XOR: _xor,
}  # fmt: skip
