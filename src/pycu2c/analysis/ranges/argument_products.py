"""Products of integer arguments that a launch assumption bounds, in range analysis.

In ``if y < height and x < width: image[y * width + x]`` with int32 arguments, ``y * width`` may
wrap. It does not in launches where ``height * width`` is small (``LaunchAssumptions``). A small
product is a symbol (``domain``), named ``height*width``, which bounds factors of other products, as
of ``(z * height + y) * width``. Another symbol is the product less a factor: ``z * height`` is at
most ``depth*height-height``, so ``z * height + y`` is below ``depth*height``.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from pycu2c.analysis.ranges.domain import AbstractValue, RangeState, Symbol, SymbolOffset
from pycu2c.analysis.ranges.interval_arithmetic import INFINITY, Interval
from pycu2c.analysis.ranges.transfer_functions import symbol_value
from pycu2c.base.limits import PRODUCT32_LIMIT
from pycu2c.base.records import dataclass
from pycu2c.ops import operators as ops

_MAX_FACTORS = 4
SMALL = Interval(1, PRODUCT32_LIMIT)

Factors: TypeAlias = tuple[str, ...]  # names of arguments in order, which may repeat
_Factor: TypeAlias = tuple[Factors, Interval]  # and how much a value exceeds their product


@dataclass(frozen=True, slots=True)
class ProductBound:
    """What ``a * b`` is at most if a product of arguments is small."""

    factors: Factors
    high: int
    offsets: tuple[SymbolOffset, ...]


@dataclass(frozen=True, slots=True)
class ArgumentProducts:
    """Arguments that are 1 or more, and their products that are small.

    small: with each product, those of some of its factors; None for any of up to four factors.
    """

    arguments: frozenset[str] = frozenset()
    small: tuple[Factors, ...] | None = ()

    def bound(self, a: AbstractValue, b: AbstractValue, state: RangeState) -> ProductBound | None:
        """Return the least bound of ``a * b``, if it has one."""
        if max(a.interval.low, b.interval.low) < 0:  # the product of the least values may be larger
            return None
        pairs = itertools.product(self._factors(a, state), self._factors(b, state))
        bounds = [_bound(x, y) for x, y in pairs if self._is_small((*x[0], *y[0]))]
        return min(bounds, key=lambda bound: (bound.high, len(bound.factors)), default=None)

    def _factors(self, value: AbstractValue, state: RangeState) -> Iterator[_Factor]:
        """Yield arguments and products that are related to a value."""
        related = {offset.symbol for offset in value.offsets}
        related |= {a for a, b in state.min_differences if b in related}
        for symbol in sorted(related, key=lambda s: s.name):
            factors = tuple(symbol.name.split("*"))
            if self.arguments.issuperset(factors):
                yield factors, state.difference(value, symbol_value(symbol, state))

    def _is_small(self, factors: Factors) -> bool:
        if self.small is None:
            return len(factors) <= _MAX_FACTORS
        return any(Counter(factors) <= Counter(product) for product in self.small)

    def offsets(
        self, op: ops.Operator, a: AbstractValue, b: AbstractValue, state: RangeState
    ) -> Iterator[SymbolOffset]:
        """Yield offsets of ``a + b`` and ``a // b`` from arguments and their products."""
        if op is ops.ADD:
            yield from _sum_offsets(a, b, state)
            yield from _sum_offsets(b, a, state)
        if op is ops.FLOORDIV:
            yield from self._quotient_offsets(a, b, state)

    def _quotient_offsets(
        self, a: AbstractValue, b: AbstractValue, state: RangeState
    ) -> Iterator[SymbolOffset]:
        """Yield what ``a // b`` is below, as y for a below ``x * y`` and b at least x."""
        for product, excess in self._factors(a, state):
            for divisor, difference in self._factors(b, state):
                quotient = Counter(product) - Counter(divisor)
                is_divisible = quotient and not Counter(divisor) - Counter(product)
                if is_divisible and excess.high < 0 <= difference.low:
                    yield _at_most(_symbol(tuple(sorted(quotient.elements()))), -1)


def _bound(x: _Factor, y: _Factor) -> ProductBound:
    """Bound a product of two values from how much they exceed products of arguments."""
    (x_factors, x_excess), (y_factors, y_excess) = x, y
    factors = tuple(sorted((*x_factors, *y_factors)))
    c, d = max(x_excess.high, 0), max(y_excess.high, 0)
    high = PRODUCT32_LIMIT * (1 + c + d) + c * d
    if c or d:
        return ProductBound(factors, high, ())
    low = 0 if x_excess.low == y_excess.low == 0 else -INFINITY
    below = 1 if min(x_excess.high, y_excess.high) < 0 else 0  # not more: one may be negative
    offsets = [SymbolOffset(_symbol(factors), low, -below)]
    if x_excess.high < 0:  # (x - 1) * y is x * y - y
        offsets.append(_at_most(_symbol(factors, y_factors)))
    if y_excess.high < 0:
        offsets.append(_at_most(_symbol(factors, x_factors)))
    return ProductBound(factors, high, tuple(offsets))


def _sum_offsets(a: AbstractValue, b: AbstractValue, state: RangeState) -> Iterator[SymbolOffset]:
    """Yield what ``a + b`` is at most if a is at most a product less a factor."""
    for offset in a.offsets:
        product, _, factor = offset.symbol.name.partition("-")
        if factor:
            excess = state.difference(b, symbol_value(Symbol(factor, SMALL), state)).high
            yield _at_most(Symbol(product, SMALL), offset.high + excess)


def _symbol(product: Factors, less: Factors = ()) -> Symbol:
    name = "*".join(product)
    if not less:
        return Symbol(name, SMALL)
    return Symbol(f"{name}-{'*'.join(less)}", Interval(0, SMALL.high))


def _at_most(symbol: Symbol, by: int = 0) -> SymbolOffset:
    return SymbolOffset(symbol, -INFINITY, by)
