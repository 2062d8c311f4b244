"""Abstract domain of integers at one program point: intervals, and differences of symbols.

A symbol is an integer with a name: a variable, an array dimension, or a thread coordinate. It keeps
its value until it is assigned. A state holds an interval for each symbol, lower bounds of
differences between symbols, and the expressions that variables were assigned.
``min_differences[a, b] == k`` means ``a - b >= k`` (difference-bound constraints, also called the
zone domain). Reference: Miné, "The octagon abstract domain" (2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from pycu2c.analysis.ranges.interval_arithmetic import INFINITY, Interval
from pycu2c.analysis.variables import names_in
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir

_MAX_DIFFERENCES = 600  # above this, new constraints are stored but not combined
_UNINFORMATIVE = 1 << 66  # a distance that the types imply already
# thresholds for widening before the bound of the type
_WIDENING_STEPS: tuple[int, ...] = (INT32.minimum, -1, 0, 1, INT32.maximum)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named integer; ``bounds`` is the interval of its type or kind.

    member: the field, if it is that of a variable with a record value.
    """

    name: str
    bounds: Interval = field(compare=False)
    member: str = ""


@dataclass(frozen=True, slots=True)
class SymbolOffset:
    """The value lies between ``symbol + low`` and ``symbol + high``."""

    symbol: Symbol
    low: int
    high: int

    def shifted(self, by: Interval) -> SymbolOffset:
        return SymbolOffset(self.symbol, self.low + by.low, self.high + by.high)


@dataclass(frozen=True, slots=True)
class AbstractValue:
    """An integer at one program point: its interval, and its offsets from symbols.

    members: the intervals of the fields of a record; empty for other values and unknown records.
    """

    interval: Interval
    offsets: tuple[SymbolOffset, ...] = ()
    members: tuple[Interval, ...] = ()

    def join_with(self, other: AbstractValue) -> AbstractValue:
        """Return the least upper bound of two values, without offsets."""
        members = zip(self.members, other.members)
        return AbstractValue(
            self.interval.join_with(other.interval), (), tuple(a.join_with(b) for a, b in members)
        )


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """Bounds of symbols, and of differences between symbols, inside a loop."""

    intervals: Mapping[Symbol, Interval]
    min_differences: Mapping[tuple[Symbol, Symbol], int]


@dataclass(slots=True)
class RangeState:
    """A conjunction of constraints; absent symbols have their bounds, absent pairs have none."""

    intervals: dict[Symbol, Interval] = field(default_factory=dict)
    min_differences: dict[tuple[Symbol, Symbol], int] = field(default_factory=dict)
    # expression last assigned to each variable
    definitions: dict[str, ir.Expr] = field(default_factory=dict)
    # variables whose definitions imply no further constraint; empty after each change
    refined: frozenset[str] = frozenset()

    def copy(self) -> RangeState:
        return RangeState(
            dict(self.intervals), dict(self.min_differences), dict(self.definitions), self.refined
        )

    def of(self, symbol: Symbol) -> Interval:
        return self.intervals.get(symbol, symbol.bounds)

    def min_difference(self, a: Symbol, b: Symbol) -> int:
        """Return the largest k for which ``a - b >= k`` is known."""
        if a == b:
            return 0
        return max(self.min_differences.get((a, b), -INFINITY), self.of(a).low - self.of(b).high)

    def difference(self, a: AbstractValue, b: AbstractValue) -> Interval:
        """Return the interval of ``a - b``."""
        low, high = a.interval.low - b.interval.high, a.interval.high - b.interval.low
        for x in a.offsets:
            for y in b.offsets:
                low = max(low, self.min_difference(x.symbol, y.symbol) + x.low - y.high)
                high = min(high, -self.min_difference(y.symbol, x.symbol) + x.high - y.low)
        if low > high:  # unreachable: any interval is sound
            return Interval(low, low)
        return Interval(low, high)

    # ---- refinement: False on a contradiction ----

    def assume_difference(self, a: AbstractValue, b: AbstractValue, least: int) -> bool:
        """Add ``a - b >= least`` for values, and for the symbols that they are offset from."""
        if a.interval.high - b.interval.low < least:
            return False
        for x in a.offsets:
            if not self._raise_low(x.symbol, b.interval.low + least - x.high):
                return False
        for y in b.offsets:
            if not self._lower_high(y.symbol, a.interval.high - least - y.low):
                return False
        return all(
            self.add_difference(x.symbol, y.symbol, least - x.high + y.low)
            for x in a.offsets
            for y in b.offsets
        )

    def add_difference(self, a: Symbol, b: Symbol, least: int) -> bool:
        """Add ``a - b >= least`` for symbols, and its consequences."""
        if a == b:
            return least <= 0
        if least <= self.min_difference(a, b):
            return True
        if least > -self.min_difference(b, a):
            return False
        if least < -_UNINFORMATIVE:
            return True
        above = [(x, k) for (x, y), k in self.min_differences.items() if y == a]
        below = [(y, k) for (x, y), k in self.min_differences.items() if x == b]
        self._set_min_difference(a, b, least)
        if len(self.min_differences) < _MAX_DIFFERENCES:
            for x, k in [*above, (a, 0)]:
                for y, m in [*below, (b, 0)]:
                    self._raise_min_difference(x, y, k + least + m)
        return self._raise_low(a, self.of(b).low + least) and self._lower_high(
            b, self.of(a).high - least
        )

    def _raise_min_difference(self, a: Symbol, b: Symbol, least: int) -> None:
        if a != b and least > self.min_difference(a, b):
            self._set_min_difference(a, b, least)

    def _set_min_difference(self, a: Symbol, b: Symbol, least: int) -> None:
        self.min_differences[a, b] = least
        self.refined = frozenset()

    def _raise_low(self, symbol: Symbol, low: int) -> bool:
        """Raise the lower bound of a symbol and of the symbols known to be above it."""
        shifted = [(symbol, low)]
        shifted += [(x, low + k) for (x, y), k in self.min_differences.items() if y == symbol]
        return all(self._intersect(x, k, INFINITY) for x, k in shifted)

    def _lower_high(self, symbol: Symbol, high: int) -> bool:
        """Lower the upper bound of a symbol and of the symbols known to be below it."""
        shifted = [(symbol, high)]
        shifted += [(y, high - k) for (x, y), k in self.min_differences.items() if x == symbol]
        return all(self._intersect(x, -INFINITY, k) for x, k in shifted)

    def _intersect(self, symbol: Symbol, low: int, high: int) -> bool:
        old = self.of(symbol)
        new = Interval(max(old.low, low), min(old.high, high))
        if new.low > new.high:
            return False
        if new != old:
            self.intervals[symbol] = new
            self.refined = frozenset()
        return True

    def restricted_to(self, loop_bounds: LoopBounds) -> RangeState:
        """Return the state intersected with loop bounds."""
        state = self.copy()
        for symbol, interval in loop_bounds.intervals.items():
            state._intersect(symbol, interval.low, interval.high)
        for pair, k in loop_bounds.min_differences.items():
            state._raise_min_difference(*pair, k)
        return state

    # ---- assignment ----

    def assign(self, symbol: Symbol, value: AbstractValue) -> None:
        """Assign a previously computed value to a symbol."""
        self_offset = next((offset for offset in value.offsets if offset.symbol == symbol), None)
        if self_offset is None:
            self.forget(symbol)
        else:
            self._shift(symbol, self_offset)
            self._forget_definitions(symbol)
        self.intervals[symbol] = value.interval
        self.refined = frozenset()
        for offset in value.offsets:
            if offset.symbol != symbol:  # a contradiction means that this point is unreachable
                self.add_difference(symbol, offset.symbol, offset.low)
                self.add_difference(offset.symbol, symbol, -offset.high)

    def forget(self, symbol: Symbol) -> None:
        self.intervals.pop(symbol, None)
        self.min_differences = {
            pair: k for pair, k in self.min_differences.items() if symbol not in pair
        }
        self._forget_definitions(symbol)

    def drop(self, names: Set[str]) -> None:
        """Drop variables that are not needed any more."""
        self.intervals = {x: i for x, i in self.intervals.items() if x.name not in names}
        self.min_differences = {
            (a, b): k
            for (a, b), k in self.min_differences.items()
            if a.name not in names and b.name not in names
        }
        self.definitions = {n: e for n, e in self.definitions.items() if n not in names}

    def _forget_definitions(self, symbol: Symbol) -> None:
        """Drop the definitions that read the symbol."""
        self.definitions = {
            name: e
            for name, e in self.definitions.items()
            if name != symbol.name and symbol.name not in names_in(e)
        }

    def define(self, name: str, value: ir.Expr) -> None:
        """Record the expression just assigned to a variable, until an operand is reassigned."""
        if name not in names_in(value):
            self.definitions[name] = value

    def _shift(self, symbol: Symbol, by: SymbolOffset) -> None:
        """Apply ``symbol = symbol + (low … high)``: shift its differences."""
        shifted = {
            (a, b): k + (by.low if a == symbol else -by.high if b == symbol else 0)
            for (a, b), k in self.min_differences.items()
        }
        self.min_differences = {pair: k for pair, k in shifted.items() if k > -_UNINFORMATIVE}

    # ---- joins and widening ----

    def join_with(self, other: RangeState) -> RangeState:
        """Return the least upper bound of two states."""
        result = RangeState()
        for symbol in self.intervals.keys() & other.intervals.keys():
            result.intervals[symbol] = self.of(symbol).join_with(other.of(symbol))
        for a, b in self.min_differences.keys() | other.min_differences.keys():
            result._raise_min_difference(
                a, b, min(self.min_difference(a, b), other.min_difference(a, b))
            )
        result.definitions = self._common_definitions(other)
        return result

    def _common_definitions(self, other: RangeState) -> dict[str, ir.Expr]:
        return {n: e for n, e in self.definitions.items() if other.definitions.get(n) is e}

    def includes(self, other: RangeState) -> bool:
        """Return whether this state is at least as general as ``other``."""
        return (
            all(i.contains(other.of(t)) for t, i in self.intervals.items())
            and all(other.min_difference(a, b) >= k for (a, b), k in self.min_differences.items())
            and self._common_definitions(other) == self.definitions
        )

    def widened(
        self, new: RangeState, loop_bounds: LoopBounds, thresholds: Mapping[str, Sequence[int]]
    ) -> RangeState:
        """Return constraints that hold in both states; bounds that grow move to a threshold."""
        result = RangeState()
        for symbol, old in self.intervals.items():
            bounds, steps = symbol.bounds, (*_WIDENING_STEPS, *thresholds.get(symbol.name, ()))
            if symbol in loop_bounds.intervals:
                bounds, steps = loop_bounds.intervals[symbol], ()
            result.intervals[symbol] = _widened(old, new.of(symbol), bounds, steps)
        for (a, b), k in self.min_differences.items():
            least = k if new.min_difference(a, b) >= k else loop_bounds.min_differences.get((a, b))
            if least is not None:
                result.min_differences[a, b] = least
        result.definitions = self._common_definitions(new)
        return result


def _widened(old: Interval, new: Interval, bounds: Interval, steps: Sequence[int]) -> Interval:
    low, high = old.low, old.high
    if new.low < low:
        low = max([s for s in steps if bounds.low <= s <= new.low], default=bounds.low)
    if new.high > high:
        high = min([s for s in steps if bounds.high >= s >= new.high], default=bounds.high)
    return Interval(low, high)


def join(a: RangeState | None, b: RangeState | None) -> RangeState | None:
    """Join the states of two control-flow paths; None is unreachable."""
    if a is None or b is None:
        return a or b
    return a.join_with(b)
