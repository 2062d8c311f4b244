"""Bound induction variables: by how much a loop changes the variables that it only adds to.

``for k in range(n): count += 1`` changes ``count`` by at most n. Widening at the loop head alone
cannot find this. So the analysis sums the increments over the text of the body and multiplies them
by the trip count. Intermediate sums may wrap: arithmetic modulo 2**64 loses nothing if the final
value is inside the type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from pycu2c.analysis.ranges.domain import LoopBounds, RangeState, Symbol
from pycu2c.analysis.ranges.interval_arithmetic import INFINITY, Interval, all_values, is_integral
from pycu2c.base.dtypes import INT64, DTypeKind
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, contains, statements
from pycu2c.ops.operators import ADD, AND, FLOORDIV, SHR, SUB

_ZERO = Interval(0, 0)
_UNKNOWN_TRIP_COUNT = INFINITY

Increments = dict[str, Interval]  # change of each variable, by name


@dataclass(slots=True)
class LoopIncrements:
    """Increments of the induction variables per iteration, and trip counts, of loops.

    ``range_of``: interval of an expression at any time. ``variable_range``: interval of all values
    assigned to a variable. ``ends_loop``: whether a loop ends once a variable is in an interval.
    """

    range_of: Callable[[ir.Expr], Interval]
    variable_range: Callable[[ir.Var], Interval]
    ends_loop: Callable[[ir.While, ir.Var, Interval], bool]
    _by_loop: dict[int, Increments] = field(default_factory=dict)

    def per_iteration(self, loop: ir.For | ir.While) -> Increments:
        """Return the change of each induction variable in one iteration, complete or partial."""
        if id(loop) not in self._by_loop:
            self._by_loop[id(loop)] = self._body_increments(
                loop.body, find_induction_variables(loop)
            )
        return self._by_loop[id(loop)]

    def trip_count(self, loop: ir.For | ir.While) -> int:
        """Return the maximum number of iterations that a loop begins."""
        if isinstance(loop, ir.For):
            start = self.range_of(loop.start)
            stop = self.range_of(loop.stop)
            step = self.range_of(loop.step)
            return max_trip_count(Interval(stop.low - start.high, stop.high - start.low), step)
        if contains(loop.body, ir.Continue):
            return _UNKNOWN_TRIP_COUNT
        return min(
            [*self._trip_counts_from_shifts(loop), *self._trip_counts_from_increments(loop)],
            default=_UNKNOWN_TRIP_COUNT,
        )

    def _body_increments(self, body: ir.Body, names: Mapping[str, ir.Var]) -> Increments:
        total = dict.fromkeys(names, _ZERO)
        for s in body:
            for name, increment in self._statement_increments(s, names).items():
                total[name] = Interval(
                    total[name].low + increment.low, total[name].high + increment.high
                )
        return total

    def _statement_increments(self, s: ir.Stmt, names: Mapping[str, ir.Var]) -> Increments:
        match s:
            case ir.Assign() if s.var.name in names:
                increment = self._increment(s.value, s.var.name)
                return {s.var.name: increment.join_with(_ZERO)}
            case ir.If():
                then = self._body_increments(s.then, names)
                orelse = self._body_increments(s.orelse, names)
                return {name: then[name].join_with(orelse[name]) for name in names}
            case ir.For() | ir.While():
                increments = self._body_increments(s.body, names)
                nonzero = {
                    name: increment for name, increment in increments.items() if increment != _ZERO
                }
                trip_count = self.trip_count(s) if nonzero else 0
                return {
                    name: scale_increment(increment, trip_count)
                    for name, increment in nonzero.items()
                }
            case _:
                return {}

    def _increment(self, e: ir.Expr, name: str) -> Interval:
        """Return the difference between ``e`` and the variable that it adds to."""
        match e:
            case ir.Var():
                return _ZERO
            case ir.Select():
                return self._increment(e.then, name).join_with(self._increment(e.orelse, name))
            case ir.Binary(op, left, right):
                if not _adds_to(left, name):
                    left, right = right, left
                increment, term = self._increment(left, name), self.range_of(right)
                if op is SUB:
                    return Interval(increment.low - term.high, increment.high - term.low)
                return Interval(increment.low + term.low, increment.high + term.high)
            case _:
                raise AssertionError(e)

    # ---- trip counts of while loops ----

    def _trip_counts_from_increments(self, loop: ir.While) -> Iterator[int]:
        """Bound ``while i < n: i += 2`` by the range of the variable.

        A variable that only grows (or only shrinks) stays within the values assigned to it, if
        these do not wrap.
        """
        for name, var in find_induction_variables(loop).items():
            steps = [self._increment(s.value, name) for s in _assignments(loop.body, name)]
            unconditional_values = [
                s.value for s in loop.body if isinstance(s, ir.Assign) and s.var.name == name
            ]
            min_increment = sum(self._increment(e, name).low for e in unconditional_values)
            max_increment = sum(self._increment(e, name).high for e in unconditional_values)
            values = self.variable_range(var).join_with(_ZERO)  # variables start as 0
            if values == all_values(var.type):
                continue
            if min_increment > 0 and all(step.low >= 0 for step in steps):
                yield (values.high - values.low) // min_increment + 1
            elif max_increment < 0 and all(step.high <= 0 for step in steps):
                yield (values.high - values.low) // -max_increment + 1

    def _trip_counts_from_shifts(self, loop: ir.While) -> Iterator[int]:
        """Bound ``while x > 0: x >>= 1``: the number loses at least one bit per iteration."""
        nested = list(statements(loop.body))
        let_names = {e.name for e in all_expressions(loop.body) if isinstance(e, ir.Let)}
        assignment_counts = Counter(
            s.var.name for s in nested if isinstance(s, (ir.Assign, ir.For))
        )
        for s in loop.body:
            if (
                isinstance(s, ir.Assign)
                and assignment_counts[s.var.name] == 1
                and s.var.name not in let_names
            ):
                values = self.variable_range(s.var).join_with(_ZERO)
                shrinks = is_integral(s.var.type) and _loses_a_bit(s.var.name, s.value)
                if shrinks and self.ends_loop(loop, s.var, Interval(values.low, 0)):
                    yield values.high.bit_length()


def scale_increment(increment: Interval, trip_count: int) -> Interval:
    """Return the change after zero to ``trip_count`` iterations."""
    return Interval(min(0, increment.low * trip_count), max(0, increment.high * trip_count))


def max_trip_count(distance: Interval, step: Interval) -> int:
    """Return the maximum trip count of a range; ``distance`` is from its start to its stop."""
    if step.low > 0:
        return max(0, -(-distance.high // step.low))
    if step.high < 0:
        return max(0, -(distance.low // -step.high))
    return max(0, distance.high, -distance.low)


def length_of_range(start: Interval, stop: Interval, step: Interval) -> Interval:
    """Return the interval of ``len(range(start, stop, step))`` as an int64."""
    distance = Interval(stop.low - start.high, stop.high - start.low)
    return Interval(0, min(max_trip_count(distance, step), INT64.maximum))


def find_induction_variables(loop: ir.For | ir.While) -> dict[str, ir.Var]:
    """Return the integer variables that a loop changes only by additions."""
    result: dict[str, ir.Var] = {}
    reassigned = {e.name for e in all_expressions(loop.body) if isinstance(e, ir.Let)}
    if isinstance(loop, ir.For):
        reassigned.add(loop.var.name)
    for s in statements(loop.body):
        if isinstance(s, (ir.Declare, ir.For)) or (
            isinstance(s, ir.Assign) and not _is_addition(s)
        ):
            reassigned.add(s.var.name)
        elif isinstance(s, ir.Assign):
            result[s.var.name] = s.var
    return {name: var for name, var in result.items() if name not in reassigned}


def assigned_in_loop(loop: ir.For | ir.While) -> set[str]:
    """Return all variables that a loop assigns."""
    result = {e.name for e in all_expressions(loop.body) if isinstance(e, ir.Let)}
    for s in (loop, *statements(loop.body)):
        if isinstance(s, (ir.Assign, ir.Declare, ir.For)):
            result.add(s.var.name)
    return result


def _assignments(body: ir.Body, name: str) -> Iterator[ir.Assign]:
    return (s for s in statements(body) if isinstance(s, ir.Assign) and s.var.name == name)


def _is_addition(s: ir.Assign) -> bool:
    integral = is_integral(s.var.type) and s.var.type.dtype.kind is not DTypeKind.BOOL
    return integral and _adds_to(s.value, s.var.name)


def _adds_to(e: ir.Expr, name: str) -> bool:
    """Return whether an expression is the variable plus other terms."""
    match e:
        case ir.Var():
            return e.name == name
        case ir.Binary():
            right = e.op is ADD and _adds_to(e.right, name)
            return right or (e.op in (ADD, SUB) and _adds_to(e.left, name))
        case ir.Select():
            return _adds_to(e.then, name) and _adds_to(e.orelse, name)
        case _:
            return False


def _loses_a_bit(name: str, e: ir.Expr) -> bool:
    """Return whether ``e`` is ``x >> k``, ``x // k`` or ``x & (x - 1)`` of the variable."""
    match e:
        case ir.Binary(op, ir.Var(name=x), ir.Const(value=by)) if x == name:
            return (op is SHR and by >= 1) or (op is FLOORDIV and by >= 2)
        case ir.Binary(op, ir.Var(name=x), ir.Binary(inner_op, ir.Var(name=y), ir.Const(value=1))):
            return op is AND and inner_op is SUB and x == y == name
        case _:
            return False


# ---- loop head state -----------------------------------------------------------------------


def bounds_after_iterations(
    entry: RangeState, increments: Increments, trip_count: int, assigned: set[str]
) -> LoopBounds:
    """Bound the induction variables after at most ``trip_count`` iterations.

    Omits variables that may leave their type. Keeps differences to symbols that the loop does not
    assign.
    """
    distances: dict[Symbol, Interval] = {}
    intervals: dict[Symbol, Interval] = {}
    for symbol, interval in entry.intervals.items():
        if symbol.name in increments:
            distance = scale_increment(increments[symbol.name], trip_count)
            shifted = Interval(interval.low + distance.low, interval.high + distance.high)
            if symbol.bounds.contains(shifted):
                distances[symbol], intervals[symbol] = distance, shifted
    min_differences: dict[tuple[Symbol, Symbol], int] = {}
    for (a, b), k in entry.min_differences.items():
        if a in distances and b.name not in assigned:
            min_differences[a, b] = k + distances[a].low
        elif b in distances and a.name not in assigned:
            min_differences[a, b] = k - distances[b].high
    return LoopBounds(intervals, min_differences)
