"""Intervals of whole numbers, and Python's arithmetic on them. Knows neither IR nor variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pycu2c.base.dtypes import INT64, DType, Kind
from pycu2c.base.records import dataclass
from pycu2c.base.types import SMALL, Scalar
from pycu2c.ops.operators import ADD, AND, FLOORDIV, MOD, MUL, OR, POW, SHL, SHR, SUB, XOR, Operator

FAR = 1 << 200  # stands for infinity; beyond what any sum of bounds reaches


@dataclass(frozen=True, slots=True)
class Interval:
    """All whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def holds(self, other: Interval) -> bool:
        return self.low <= other.low and other.high <= self.high

    def joined(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


ANYTHING = Interval(-FAR, FAR)
TRUTH = Interval(0, 1)


def is_whole(scalar: object) -> bool:
    """Whether the values of a type are whole numbers; bools are 0 and 1."""
    return isinstance(scalar, Scalar) and scalar.dtype.is_whole


def everything(scalar: object) -> Interval:
    """All values of a type; of a float or an array nothing is known."""
    if not isinstance(scalar, Scalar) or not scalar.dtype.is_whole:
        return ANYTHING
    return Interval(scalar.dtype.minimum, scalar.dtype.maximum)


def given_by_float(scalar: Scalar) -> Interval:
    """What a float gives that is made an integer: no float lies so near below 2**63, and what
    one beyond gives is undefined. Floats of other types give less."""
    whole = everything(scalar)
    return Interval(whole.low, whole.high - 1023) if scalar.dtype is INT64 else whole


def is_exact(result: Interval, scalar: Scalar) -> bool:
    """Whether an operation in a type gives its exact result, which lies there: it fits, or
    ``narrow``, who chose the type, has proved that it does."""
    return scalar == SMALL or everything(scalar).holds(result)


def held(result: Interval, scalar: Scalar) -> Interval:
    """What is left of an exact result in a type: all values of it, if the result may wrap."""
    whole = everything(scalar)
    if not is_exact(result, scalar):
        return whole
    low, high = max(result.low, whole.low), min(result.high, whole.high)
    return Interval(low, high) if low <= high else whole  # nothing comes here


def exact_result(op: Operator, a: Interval, b: Interval, dtype: DType) -> Interval:
    """Where the result of an operator lies before it is cut to its type."""
    rule = _RULES.get(op)
    return ANYTHING if rule is None else rule(a, b, dtype.bits)


def negated(a: Interval) -> Interval:
    return Interval(-a.high, -a.low)


def inverted(a: Interval, dtype: DType) -> Interval:
    """``~a``; of an unsigned value, what is left to the greatest."""
    if dtype.kind is Kind.UNSIGNED:
        return Interval(dtype.maximum - a.high, dtype.maximum - a.low)
    return Interval(~a.high, ~a.low)


def absolute(a: Interval) -> Interval:
    least = 0 if 0 in a else min(abs(a.low), abs(a.high))
    return Interval(least, max(abs(a.low), abs(a.high)))


def lesser(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.low, b.low), min(a.high, b.high))


def greater(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


# ---- one rule per operator; ``bits`` is the width that shifts look at ------------------------


def _hull(values: Iterable[int]) -> Interval:
    found = list(values)
    return Interval(min(found), max(found))


def _add(a: Interval, b: Interval, _: int) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def _sub(a: Interval, b: Interval, _: int) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def _mul(a: Interval, b: Interval, _: int) -> Interval:
    return _hull(x * y for x in (a.low, a.high) for y in (b.low, b.high))


def _floordiv(a: Interval, b: Interval, _: int) -> Interval:
    """Monotone in each operand on either side of 0; by 0 it gives 0."""
    divisors = {d for d in (b.low, b.high, -1, 1) if d in b and d != 0}
    quotients = [x // d for x in (a.low, a.high) for d in divisors]
    return _hull(quotients + [0] * (0 in b))


def _mod(a: Interval, b: Interval, _: int) -> Interval:
    """The sign of the divisor, and nearer to 0 than it; by 0 it gives 0."""
    if a.low >= 0 and a.high < b.low:
        return a
    low, high = min(0, b.low + 1), max(0, b.high - 1)
    return Interval(low, min(high, a.high) if a.low >= 0 and b.low >= 0 else high)


def _pow(a: Interval, b: Interval, bits: int) -> Interval:
    if b.low != b.high or not 0 <= b.low <= bits:
        return ANYTHING
    return _hull(x**b.low for x in {a.low, a.high} | ({0} if 0 in a else set()))


def _amounts(b: Interval, bits: int) -> list[int]:
    """The least and the greatest amount that really shifts."""
    low, high = max(b.low, 0), min(b.high, bits - 1)
    return [low, high] if low <= high else []


def _shl(a: Interval, b: Interval, bits: int) -> Interval:
    outside = b.low < 0 or b.high >= bits
    shifted = [x << s for x in (a.low, a.high) for s in _amounts(b, bits)]
    return _hull(shifted + [0] * outside)


def _shr(a: Interval, b: Interval, bits: int) -> Interval:
    outside = b.low < 0 or b.high >= bits
    amounts = _amounts(b, bits) + [bits] * outside
    return _hull(x >> s for x in (a.low, a.high) for s in amounts)


def _within_bits(a: Interval, b: Interval) -> Interval:
    """What any bitwise operator gives: no more bits than the operands have."""
    bits = max(x.bit_length() for x in (a.low, a.high, b.low, b.high))
    negative = a.low < 0 or b.low < 0
    return Interval(-(1 << bits) if negative else 0, (1 << bits) - 1)


def _and(a: Interval, b: Interval, _: int) -> Interval:
    masks = [x.high for x in (a, b) if x.low >= 0]
    return Interval(0, min(masks)) if masks else _within_bits(a, b)


def _or(a: Interval, b: Interval, _: int) -> Interval:
    plain = _within_bits(a, b)
    return Interval(max(a.low, b.low), plain.high) if plain.low >= 0 else plain


def _xor(a: Interval, b: Interval, _: int) -> Interval:
    return _within_bits(a, b)


_RULES: dict[Operator, Callable[[Interval, Interval, int], Interval]] = {
    ADD: _add, SUB: _sub, MUL: _mul, FLOORDIV: _floordiv, MOD: _mod, POW: _pow,
    SHL: _shl, SHR: _shr, AND: _and, OR: _or, XOR: _xor,
}  # fmt: skip
