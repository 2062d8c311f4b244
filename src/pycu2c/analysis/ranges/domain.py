"""What is known of whole numbers at one point of a function: the interval of each term, how
far terms are apart at least, and which expression a variable stands for.

A term is something that keeps its value until it is assigned: a variable, a dimension of an
array, the place of the thread. ``apart[a, b] == k`` says ``a - b >= k``.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.ranges.intervals import FAR, Interval
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import Expr, Var
from pycu2c.ir.walk import expressions

_MOST_PAIRS = 600  # beyond, new facts are still kept but no longer combined
_USELESS = 1 << 66  # a distance that says no more than the types do
# where a growing bound rests before it goes to the end of its type
_STEPS: tuple[int, ...] = (INT32.minimum, -1, 0, 1, INT32.maximum)


@dataclass(frozen=True, slots=True)
class Term:
    """``bounds``: what its type, or its nature, says of it."""

    name: str
    bounds: Interval


@dataclass(frozen=True, slots=True)
class Form:
    """A value lies between ``term + low`` and ``term + high``."""

    term: Term
    low: int
    high: int

    def shifted(self, by: Interval) -> Form:
        return Form(self.term, self.low + by.low, self.high + by.high)


@dataclass(frozen=True, slots=True)
class Value:
    """A number at one point: where it lies, by itself and beside terms."""

    interval: Interval
    forms: tuple[Form, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a loop leads some terms at most, and how far they stay apart from others."""

    intervals: Mapping[Term, Interval]
    apart: Mapping[tuple[Term, Term], int]


@dataclass(slots=True)
class Knowledge:
    """A conjunction of facts. Absent terms have their bounds; absent pairs their intervals'."""

    intervals: dict[Term, Interval] = field(default_factory=dict)
    apart: dict[tuple[Term, Term], int] = field(default_factory=dict)
    meanings: dict[str, Expr] = field(default_factory=dict)  # variable -> its value's expression

    def copy(self) -> Knowledge:
        return Knowledge(dict(self.intervals), dict(self.apart), dict(self.meanings))

    def of(self, term: Term) -> Interval:
        return self.intervals.get(term, term.bounds)

    def distance(self, a: Term, b: Term) -> int:
        """The greatest known k with ``a - b >= k``."""
        if a == b:
            return 0
        return max(self.apart.get((a, b), -FAR), self.of(a).low - self.of(b).high)

    def difference(self, a: Value, b: Value) -> Interval:
        """Where ``a - b`` lies."""
        low, high = a.interval.low - b.interval.high, a.interval.high - b.interval.low
        for x in a.forms:
            for y in b.forms:
                low = max(low, self.distance(x.term, y.term) + x.low - y.high)
                high = min(high, -self.distance(y.term, x.term) + x.high - y.low)
        if low > high:  # nothing comes here; whoever asks need not know
            return Interval(low, low)
        return Interval(low, high)

    # ---- learning: False if it contradicts what is known ----

    def learn(self, a: Value, b: Value, least: int) -> bool:
        """``a - b >= least`` of values: of every term that they are seen beside."""
        if a.interval.high - b.interval.low < least:
            return False
        for x in a.forms:
            if not self._raise(x.term, b.interval.low + least - x.high):
                return False
        for y in b.forms:
            if not self._cap(y.term, a.interval.high - least - y.low):
                return False
        return all(
            self.relate(x.term, y.term, least - x.high + y.low) for x in a.forms for y in b.forms
        )

    def relate(self, a: Term, b: Term, least: int) -> bool:
        """``a - b >= least`` of terms, and what follows from it."""
        if a == b:
            return least <= 0
        if least <= self.distance(a, b):
            return True
        if least > -self.distance(b, a):
            return False
        if least < -_USELESS:
            return True
        above = [(x, k) for (x, y), k in self.apart.items() if y == a]
        below = [(y, k) for (x, y), k in self.apart.items() if x == b]
        self.apart[a, b] = least
        if len(self.apart) < _MOST_PAIRS:
            for x, k in [*above, (a, 0)]:
                for y, m in [*below, (b, 0)]:
                    self._note(x, y, k + least + m)
        return self._raise(a, self.of(b).low + least) and self._cap(b, self.of(a).high - least)

    def _note(self, a: Term, b: Term, least: int) -> None:
        if a != b and least > self.distance(a, b):
            self.apart[a, b] = least

    def _raise(self, term: Term, low: int) -> bool:
        """The term is at least ``low``, and what stands above it with it."""
        moved = [(term, low)]
        moved += [(x, low + k) for (x, y), k in self.apart.items() if y == term]
        return all(self._narrow(x, k, FAR) for x, k in moved)

    def _cap(self, term: Term, high: int) -> bool:
        """The term is at most ``high``, and what stands below it with it."""
        moved = [(term, high)]
        moved += [(y, high - k) for (x, y), k in self.apart.items() if x == term]
        return all(self._narrow(x, -FAR, k) for x, k in moved)

    def _narrow(self, term: Term, low: int, high: int) -> bool:
        old = self.of(term)
        new = Interval(max(old.low, low), min(old.high, high))
        if new.low > new.high:
            return False
        if new != old:
            self.intervals[term] = new
        return True

    def within(self, reach: Reach) -> Knowledge:
        """What is known where the terms are in reach, too."""
        known = self.copy()
        for term, interval in reach.intervals.items():
            known._narrow(term, interval.low, interval.high)
        for pair, k in reach.apart.items():
            known._note(*pair, k)
        return known

    # ---- change ----

    def assign(self, term: Term, value: Value) -> None:
        """From here on the term has the value, which was computed before."""
        own = next((f for f in value.forms if f.term == term), None)
        if own is None:
            self.forget(term)
        else:
            self._move(term, own)
            self._forget_meanings(term)
        self.intervals[term] = value.interval
        for form in value.forms:
            if form.term != term:  # a contradiction here: nothing comes to this point
                self.relate(term, form.term, form.low)
                self.relate(form.term, term, -form.high)

    def forget(self, term: Term) -> None:
        self.intervals.pop(term, None)
        self.apart = {pair: k for pair, k in self.apart.items() if term not in pair}
        self._forget_meanings(term)

    def _forget_meanings(self, term: Term) -> None:
        """An expression that reads the term says nothing of its new value."""
        self.meanings = {
            name: e
            for name, e in self.meanings.items()
            if name != term.name and not _mentions(e, term.name)
        }

    def mean(self, name: str, value: Expr) -> None:
        """A variable has just been assigned; until one of its operands is, it has this value."""
        if not _mentions(value, name):
            self.meanings[name] = value

    def _move(self, term: Term, by: Form) -> None:
        """``term = term + (low … high)``: its distances move with it."""
        moved = {
            (a, b): k + (by.low if a == term else -by.high if b == term else 0)
            for (a, b), k in self.apart.items()
        }
        self.apart = {pair: k for pair, k in moved.items() if k > -_USELESS}

    # ---- where paths meet ----

    def joined(self, other: Knowledge) -> Knowledge:
        """What both know."""
        meeting = Knowledge()
        for term in self.intervals.keys() & other.intervals.keys():
            meeting.intervals[term] = self.of(term).joined(other.of(term))
        for a, b in self.apart.keys() | other.apart.keys():
            meeting._note(a, b, min(self.distance(a, b), other.distance(a, b)))
        meeting.meanings = self._common_meanings(other)
        return meeting

    def _common_meanings(self, other: Knowledge) -> dict[str, Expr]:
        return {n: e for n, e in self.meanings.items() if other.meanings.get(n) is e}

    def covers(self, other: Knowledge) -> bool:
        """Whether everything known here is known there."""
        return (
            all(i.holds(other.of(t)) for t, i in self.intervals.items())
            and all(other.distance(a, b) >= k for (a, b), k in self.apart.items())
            and self._common_meanings(other) == self.meanings
        )

    def widened(self, new: Knowledge, reach: Reach) -> Knowledge:
        """Known here and still true in ``new``; bounds that grow go far, so that this ends."""
        wide = Knowledge()
        for term, old in self.intervals.items():
            wide.intervals[term] = _widened(old, new.of(term), term, reach)
        for (a, b), k in self.apart.items():
            least = k if new.distance(a, b) >= k else reach.apart.get((a, b))
            if least is not None:
                wide.apart[a, b] = least
        wide.meanings = self._common_meanings(new)
        return wide


def _mentions(e: Expr, name: str) -> bool:
    return any(isinstance(x, Var) and x.name == name for x in expressions(e))


def _widened(old: Interval, new: Interval, term: Term, reach: Reach) -> Interval:
    bounds, steps = term.bounds, _STEPS
    if term in reach.intervals:
        bounds, steps = reach.intervals[term], ()
    low, high = old.low, old.high
    if new.low < low:
        low = max([s for s in steps if bounds.low <= s <= new.low], default=bounds.low)
    if new.high > high:
        high = min([s for s in steps if bounds.high >= s >= new.high], default=bounds.high)
    return Interval(low, high)


def join(a: Knowledge | None, b: Knowledge | None) -> Knowledge | None:
    """What is known where two paths meet; None is a path that nothing takes."""
    if a is None or b is None:
        return a or b
    return a.joined(b)
