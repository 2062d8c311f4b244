"""How far a loop moves the variables that it only ever adds to.

``for k in range(n): count += 1`` moves ``count`` by n at most. Where it lies at the head of the
loop cannot show that: it grows with every round that is looked at. So the moves of one round
are summed up over the text of the loop, and multiplied by its rounds. This is right even if a
sum wraps on the way: modulo 2**64 nothing is lost, and where all rounds together lead a
variable to a place inside of its type, that is where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from pycu2c.analysis.ranges.domain import Knowledge, Reach, Term
from pycu2c.analysis.ranges.intervals import FAR, Interval, everything, is_whole
from pycu2c.base.dtypes import INT64, Kind
from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import (
    Assign,
    Binary,
    Body,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Let,
    Select,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import ADD, AND, FLOORDIV, SHR, SUB

_NOWHERE = Interval(0, 0)
_ENDLESS = FAR

Moves = dict[str, Interval]  # how far variables are moved, by name


@dataclass(slots=True)
class Paces:
    """How far one round of each loop moves its variables.

    ``of``: where an expression lies, whenever it is evaluated. ``variable``: where all that a
    variable is ever assigned lies. ``ends``: whether a loop ends where a variable lies there.
    """

    of: Callable[[Expr], Interval]
    variable: Callable[[Var], Interval]
    ends: Callable[[While, Var, Interval], bool]
    _found: dict[int, Moves] = field(default_factory=dict)

    def round(self, loop: For | While) -> Moves:
        """The moves of one round, or of a part of it."""
        if id(loop) not in self._found:
            self._found[id(loop)] = self._moves(loop.body, moved_only(loop))
        return self._found[id(loop)]

    def rounds(self, loop: For | While) -> int:
        """How many rounds of a loop begin, at most."""
        if isinstance(loop, For):
            start, stop, step = self.of(loop.start), self.of(loop.stop), self.of(loop.step)
            return rounds_of_range(Interval(stop.low - start.high, stop.high - start.low), step)
        if any(isinstance(s, Continue) for s in statements(loop.body)):
            return _ENDLESS
        return min([*self._halvings(loop), *self._climbs(loop)], default=_ENDLESS)

    def _moves(self, body: Body, names: Mapping[str, Var]) -> Moves:
        total = dict.fromkeys(names, _NOWHERE)
        for s in body:
            for name, move in self._move(s, names).items():
                total[name] = Interval(total[name].low + move.low, total[name].high + move.high)
        return total

    def _move(self, s: Stmt, names: Mapping[str, Var]) -> Moves:
        match s:
            case Assign() if s.var.name in names:
                by = self._by(s.value, s.var.name)
                return {s.var.name: by.joined(_NOWHERE)}
            case If():
                then, orelse = self._moves(s.then, names), self._moves(s.orelse, names)
                return {name: then[name].joined(orelse[name]) for name in names}
            case For() | While():
                moves = self._moves(s.body, names)
                moving = {name: move for name, move in moves.items() if move != _NOWHERE}
                rounds = self.rounds(s) if moving else 0
                return {name: together(move, rounds) for name, move in moving.items()}
            case _:
                return {}

    def _by(self, e: Expr, name: str) -> Interval:
        """How far ``e``, which adds to a variable, is from it."""
        match e:
            case Var():
                return _NOWHERE
            case Select():
                return self._by(e.then, name).joined(self._by(e.orelse, name))
            case Binary(op, left, right):
                if not _adds_to(left, name):
                    left, right = right, left
                by, more = self._by(left, name), self.of(right)
                if op is SUB:
                    return Interval(by.low - more.high, by.high - more.low)
                return Interval(by.low + more.low, by.high + more.high)
            case _:
                raise AssertionError(e)

    # ---- the rounds of while loops ----

    def _climbs(self, loop: While) -> Iterator[int]:
        """``while i < n: i += 2``: a variable that every round moves the same way stays within
        what it is ever assigned, if that is proved not to wrap."""
        for name, var in moved_only(loop).items():
            steps = [self._by(s.value, name) for s in _assignments(loop.body, name)]
            always = [s.value for s in loop.body if isinstance(s, Assign) and s.var.name == name]
            least = sum(self._by(e, name).low for e in always)
            most = sum(self._by(e, name).high for e in always)
            span = self.variable(var).joined(_NOWHERE)  # 0 if nothing is assigned before
            if span == everything(var.type):
                continue
            if least > 0 and all(step.low >= 0 for step in steps):
                yield (span.high - span.low) // least + 1
            elif most < 0 and all(step.high <= 0 for step in steps):
                yield (span.high - span.low) // -most + 1

    def _halvings(self, loop: While) -> Iterator[int]:
        """``while x > 0: x >>= 1``: a number that loses a bit, at least, in every round."""
        inside = list(statements(loop.body))
        bound = {e.name for e in all_expressions(loop.body) if isinstance(e, Let)}
        times = Counter(s.var.name for s in inside if isinstance(s, (Assign, For)))
        for s in loop.body:
            if isinstance(s, Assign) and times[s.var.name] == 1 and s.var.name not in bound:
                span = self.variable(s.var).joined(_NOWHERE)
                shrinks = is_whole(s.var.type) and _loses_a_bit(s.var.name, s.value)
                if shrinks and self.ends(loop, s.var, Interval(span.low, 0)):
                    yield span.high.bit_length()


def together(pace: Interval, rounds: int) -> Interval:
    """How far some rounds move a variable, none of them or all."""
    return Interval(min(0, pace.low * rounds), max(0, pace.high * rounds))


def rounds_of_range(way: Interval, step: Interval) -> int:
    """How many rounds of a loop over a range begin, at most; ``way``: from its start to its
    stop."""
    if step.low > 0:
        return max(0, -(-way.high // step.low))
    if step.high < 0:
        return max(0, -(way.low // -step.high))
    return max(0, way.high, -way.low)


def length_of_range(start: Interval, stop: Interval, step: Interval) -> Interval:
    """How many numbers ``range(start, stop, step)`` has, as an int64 counts them."""
    way = Interval(stop.low - start.high, stop.high - start.low)
    return Interval(0, min(rounds_of_range(way, step), INT64.maximum))


def moved_only(loop: For | While) -> dict[str, Var]:
    """The variables of integers that a loop assigns, and only by adding to them."""
    found: dict[str, Var] = {}
    set_anew = {e.name for e in all_expressions(loop.body) if isinstance(e, Let)}
    if isinstance(loop, For):
        set_anew.add(loop.var.name)
    for s in statements(loop.body):
        if isinstance(s, (Declare, For)) or (isinstance(s, Assign) and not _adds(s)):
            set_anew.add(s.var.name)
        elif isinstance(s, Assign):
            found[s.var.name] = s.var
    return {name: var for name, var in found.items() if name not in set_anew}


def changed_by(loop: For | While) -> set[str]:
    """All variables that a loop assigns."""
    changed = {e.name for e in all_expressions(loop.body) if isinstance(e, Let)}
    for s in (loop, *statements(loop.body)):
        if isinstance(s, (Assign, Declare, For)):
            changed.add(s.var.name)
    return changed


def _assignments(body: Body, name: str) -> Iterator[Assign]:
    return (s for s in statements(body) if isinstance(s, Assign) and s.var.name == name)


def _adds(s: Assign) -> bool:
    whole = is_whole(s.var.type) and s.var.type.dtype.kind is not Kind.BOOL
    return whole and _adds_to(s.value, s.var.name)


def _adds_to(e: Expr, name: str) -> bool:
    """Whether an expression is a variable, or a sum of it and others."""
    match e:
        case Var():
            return e.name == name
        case Binary():
            right = e.op is ADD and _adds_to(e.right, name)
            return right or (e.op in (ADD, SUB) and _adds_to(e.left, name))
        case Select():
            return _adds_to(e.then, name) and _adds_to(e.orelse, name)
        case _:
            return False


def _loses_a_bit(name: str, e: Expr) -> bool:
    match e:
        case Binary(op, Var(name=x), Const(value=by)) if x == name:
            return (op is SHR and by >= 1) or (op is FLOORDIV and by >= 2)
        case Binary(op, Var(name=x), Binary(less, Var(name=y), Const(value=1))):
            return op is AND and less is SUB and x == y == name
        case _:
            return False


# ---- at the head of a loop -----------------------------------------------------------------------


def reach_of(entry: Knowledge, moves: Moves, rounds: int, changed: set[str]) -> Reach:
    """Where no more than so many rounds lead those variables that they leave inside of their
    type, and how far from terms that the loop does not change."""
    ways: dict[Term, Interval] = {}
    intervals: dict[Term, Interval] = {}
    for term, interval in entry.intervals.items():
        if term.name in moves:
            way = together(moves[term.name], rounds)
            led = Interval(interval.low + way.low, interval.high + way.high)
            if term.bounds.holds(led):
                ways[term], intervals[term] = way, led
    apart: dict[tuple[Term, Term], int] = {}
    for (a, b), k in entry.apart.items():
        if a in ways and b.name not in changed:
            apart[a, b] = k + ways[a].low
        elif b in ways and a.name not in changed:
            apart[a, b] = k - ways[b].high
    return Reach(intervals, apart)
