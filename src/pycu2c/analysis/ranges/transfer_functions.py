"""Transfer functions of operators: the interval of the result, and its offsets from symbols.

The functions work on abstract values and do not depend on the IR.
"""

from __future__ import annotations

from collections.abc import Iterable

from pycu2c.analysis.ranges.domain import AbstractValue, RangeState, Symbol, SymbolOffset
from pycu2c.analysis.ranges.interval_arithmetic import (
    INFINITY,
    UNBOUNDED,
    Interval,
    all_values,
    exact_result,
    fit_to_type,
    is_exact,
    is_integral,
    maximum_of,
    minimum_of,
    negated,
)
from pycu2c.base.types import Scalar
from pycu2c.ops import operators as ops

_MAX_OFFSETS = 6


def constant(value: int) -> AbstractValue:
    """Return the abstract value of an integer constant."""
    return AbstractValue(Interval(value, value))


def symbol_value(symbol: Symbol, state: RangeState) -> AbstractValue:
    """Return the abstract value of a symbol in a state."""
    return AbstractValue(state.of(symbol), (SymbolOffset(symbol, 0, 0),))


def convert(value: AbstractValue, target: Scalar) -> AbstractValue:
    """Return the value in another integer type; offsets are dropped where it may wrap."""
    offsets = value.offsets if is_exact(value.interval, target) else ()
    return AbstractValue(fit_to_type(value.interval, target), offsets)


def evaluate_operator(
    op: ops.Operator, a: AbstractValue, b: AbstractValue, scalar: Scalar, state: RangeState
) -> AbstractValue:
    """Return ``a op b`` for integers; it has no offsets if the result may wrap."""
    if not is_integral(scalar):
        return AbstractValue(all_values(scalar))
    exact = exact_result(op, a.interval, b.interval, scalar.dtype)
    if op is ops.SUB:
        exact = state.difference(a, b)
    offsets = merge_offsets(_result_offsets(op, a, b)) if is_exact(exact, scalar) else ()
    return AbstractValue(fit_to_type(exact, scalar), offsets)


def bound_quotient(a: AbstractValue, b: AbstractValue, state: RangeState) -> Interval:
    """Bound ``a // b`` if it is proved to be -1, 0 or 1, as for ``(i + 1) // n`` with i below n."""
    min_divisor = b.interval.low
    excess = state.difference(a, b).high
    if min_divisor < 1 or a.interval.low < -min_divisor or excess >= min_divisor:
        return UNBOUNDED
    return Interval(-1 if a.interval.low < 0 else 0, 0 if excess < 0 else 1)


def _result_offsets(op: ops.Operator, a: AbstractValue, b: AbstractValue) -> Iterable[SymbolOffset]:
    x, y = a.interval, b.interval
    if op is ops.ADD:
        return [offset.shifted(y) for offset in a.offsets] + [
            offset.shifted(x) for offset in b.offsets
        ]
    if op is ops.SUB:
        return [offset.shifted(negated(y)) for offset in a.offsets]
    if op is ops.MUL:
        factor_offsets = a.offsets if y.low >= 1 and x.low >= 0 else ()
        return [
            *_lower_bounds(factor_offsets),
            *_lower_bounds(b.offsets if x.low >= 1 and y.low >= 0 else ()),
        ]
    if op is ops.AND:
        return _upper_bounds(
            [offset for v in (a, b) if v.interval.low >= 0 for offset in v.offsets]
        )
    remainder = [SymbolOffset(f.symbol, -INFINITY, f.high - 1) for f in b.offsets]
    # for any divisor: a quotient or remainder by one below 1 is at most 0
    shrinks = x.low >= 0 and (op in (ops.FLOORDIV, ops.MOD) or (op is ops.SHR and y.low >= 0))
    return [
        *(remainder if op is ops.MOD and y.low >= 1 else ()),
        *_upper_bounds(a.offsets if shrinks else ()),
    ]


def _lower_bounds(offsets: Iterable[SymbolOffset]) -> list[SymbolOffset]:
    return [SymbolOffset(offset.symbol, offset.low, INFINITY) for offset in offsets]


def _upper_bounds(offsets: Iterable[SymbolOffset]) -> list[SymbolOffset]:
    return [SymbolOffset(offset.symbol, -INFINITY, offset.high) for offset in offsets]


def midpoint_offsets(a: AbstractValue, b: AbstractValue, state: RangeState) -> list[SymbolOffset]:
    """Return offsets of ``(a + b) // 2``: it lies between a and b, and below b if a does."""
    gap = state.difference(b, a)
    if gap.high <= 0:
        a, b, gap = b, a, negated(gap)
    if gap.low < 0:
        return []
    upwards = Interval(gap.low // 2, gap.high // 2)
    downwards = Interval(-((gap.high + 1) // 2), -((gap.low + 1) // 2))
    return [offset.shifted(upwards) for offset in a.offsets] + [
        offset.shifted(downwards) for offset in b.offsets
    ]


def minimum(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Return the abstract value of ``min(a, b)``."""
    offsets = merge_offsets(_upper_bounds([*a.offsets, *b.offsets]))
    return AbstractValue(minimum_of(a.interval, b.interval), offsets)


def maximum(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Return the abstract value of ``max(a, b)``."""
    offsets = merge_offsets(_lower_bounds([*a.offsets, *b.offsets]))
    return AbstractValue(maximum_of(a.interval, b.interval), offsets)


def merge_offsets(offsets: Iterable[SymbolOffset]) -> tuple[SymbolOffset, ...]:
    """Intersect the offsets from each symbol."""
    merged: dict[Symbol, SymbolOffset] = {}
    for offset in offsets:
        previous = merged.get(offset.symbol, offset)
        merged[offset.symbol] = SymbolOffset(
            offset.symbol, max(previous.low, offset.low), min(previous.high, offset.high)
        )
    return tuple(merged.values())[:_MAX_OFFSETS]


def assume_comparison(
    op: ops.Operator, a: AbstractValue, b: AbstractValue, state: RangeState
) -> bool:
    """Refine the state by ``a op b``; return False if it is contradictory."""
    if op in (ops.LT, ops.LE):
        return state.assume_difference(b, a, 1 if op is ops.LT else 0)
    if op in (ops.GT, ops.GE):
        return state.assume_difference(a, b, 1 if op is ops.GT else 0)
    if op is ops.EQ:
        return state.assume_difference(a, b, 0) and state.assume_difference(b, a, 0)
    assert op is ops.NE
    gap = state.difference(a, b)
    if gap == Interval(0, 0):
        return False
    if gap.low == 0:
        return state.assume_difference(a, b, 1)
    return gap.high != 0 or state.assume_difference(b, a, 1)
