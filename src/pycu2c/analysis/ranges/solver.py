"""Forward data-flow solver of the range analysis over structured control flow.

Branches join. Loops iterate to a fixed point with widening, followed by a bounded narrowing phase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypeAlias, assert_never

from pycu2c.analysis.ranges import induction_variables
from pycu2c.analysis.ranges.domain import AbstractValue, LoopBounds, RangeState, SymbolOffset, join
from pycu2c.analysis.ranges.evaluate import Evaluator
from pycu2c.analysis.ranges.interval_arithmetic import INFINITY, Interval, all_values
from pycu2c.analysis.ranges.last_uses import recorded_definition
from pycu2c.analysis.ranges.transfer_functions import merge_offsets
from pycu2c.base.records import dataclass, field, replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import operands

_NARROWING_ITERATIONS = 2

LoopExits: TypeAlias = tuple[RangeState | None, RangeState | None]
# state at the head -> end of the iteration, and after the loop
LoopTransfer: TypeAlias = Callable[[RangeState], LoopExits]


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop as a data-flow problem; ``bounds`` hold at its head in each iteration."""

    statement: ir.For | ir.While
    transfer: LoopTransfer
    bounds: LoopBounds
    thresholds: Mapping[str, Sequence[int]]  # for widening, by variable

    def next_head(self, entry: RangeState, end: RangeState | None) -> RangeState:
        """Return the state at the head after the entry or a back edge."""
        return entry.join_with(end.restricted_to(self.bounds)) if end else entry


@dataclass(frozen=True, slots=True)
class _LoopSolution:
    """The states at the head, at the end of an iteration, and after the loop."""

    at_head: RangeState
    end: RangeState | None
    after: RangeState | None


@dataclass(slots=True)
class _JumpStates:
    """Joined states at the breaks and the continues of a loop."""

    at_break: RangeState | None = None
    at_continue: RangeState | None = None


@dataclass(slots=True)
class RangeSolver:
    """Compute the state after each statement.

    Each method takes the state before a statement, consumes it, and returns the state after; None
    if that is unreachable.

    Each iteration over a loop solves the loops inside it again. From the second iteration on, these
    start from their previous solution and do not narrow it, which takes one iteration if it is
    stable. Otherwise the work would be exponential in the nesting depth. Reference: Bourdoncle,
    "Efficient chaotic iteration strategies with widenings" (1993), the recursive strategy.
    """

    evaluator: Evaluator
    increments: induction_variables.LoopIncrements | None  # None in a function without loops
    last_uses: Mapping[int, Set[str]]  # variables, by the identity of the statement
    thresholds: Mapping[str, Sequence[int]]  # for widening, by variable
    kept: Set[str] = frozenset()  # variables that are never dropped
    returned: AbstractValue | None = None  # the join of the values that are returned
    loops: list[_JumpStates] = field(default_factory=list)
    solutions: dict[int, RangeState] = field(default_factory=dict)  # states at the heads, by loop
    iterates_again: bool = False  # whether an enclosing loop is beyond its first iteration

    def block(self, body: ir.Body, state: RangeState | None) -> RangeState | None:
        for s in body:
            if state is None:
                return None
            state = self.statement(s, state)
            if state is not None and self.last_uses[id(s)]:
                state.drop(self.last_uses[id(s)] - self.kept)
        return state

    def statement(self, s: ir.Stmt, state: RangeState) -> RangeState | None:
        match s:
            case ir.Assign():
                self.evaluator.assign(s.var, self._value(s.value, state), state)
                if definition := recorded_definition(s):
                    state.define(s.var.name, definition)
            case ir.Declare():
                unassigned = AbstractValue(all_values(s.var.type))
                value = self._value(s.init, state) if s.init else unassigned
                self.evaluator.assign(s.var, value, state)
            case ir.Store():
                self._value(s.value, state)
                self.evaluator.access(s, state)
            case ir.Evaluate() | ir.Print():
                for e in operands(s):
                    self._value(e, state)
            case ir.If():
                return self._if(s, state)
            case ir.While():
                return self._while(s, state)
            case ir.For():
                return self._for(s, state)
            case ir.Break():
                self.loops[-1].at_break = join(self.loops[-1].at_break, state)
                return None
            case ir.Continue():
                self.loops[-1].at_continue = join(self.loops[-1].at_continue, state)
                return None
            case ir.Return():
                self._return(s, state)
                return None
            case ir.Allocate() | ir.InlineC():
                pass
            case (
                ir.WorkItemLoop()
                | ir.StripLoop()
                | ir.AxisLoop()
                | ir.BlockLoop()
                | ir.NextWorkItem()
                | ir.BarrierWait()
                | ir.CoroutineLoop()
            ):
                raise AssertionError("the range analysis runs before the lowering of barriers")
            case _:
                assert_never(s)
        return state

    def _value(self, e: ir.Expr, state: RangeState) -> AbstractValue:
        return self.evaluator.value(e, state)

    def _return(self, s: ir.Return, state: RangeState) -> None:
        if s.value is not None:
            result = replace(self._value(s.value, state), offsets=())
            if self.evaluator.recording:
                self.returned = self.returned.join_with(result) if self.returned else result

    def _if(self, s: ir.If, state: RangeState) -> RangeState | None:
        then = self.evaluator.assume(s.condition, state.copy(), True)
        orelse = self.evaluator.assume(s.condition, state, False)
        if then is None and orelse is not None:
            self._unreachable(s.then, orelse.copy())
        if orelse is None and then is not None:
            self._unreachable(s.orelse, then.copy())
        return join(self.block(s.then, then), self.block(s.orelse, orelse))

    def _unreachable(self, body: ir.Body, state: RangeState) -> None:
        """Record intervals in a branch that never runs, so that its code is like any other."""
        if self.evaluator.recording and body:
            returned = self.returned
            self._iteration(body, state)
            self.returned = returned

    # ---- loops ----

    def _loop(self, loop: _Loop, entry: RangeState) -> RangeState | None:
        """Solve a loop without recording, then record one more iteration from the fixed point."""
        recording, self.evaluator.recording = self.evaluator.recording, False
        if self.iterates_again:
            previous = self.solutions.get(id(loop.statement))
            start = entry.join_with(previous) if previous else entry
            solution = _fixed_point(loop, entry, start, loop.transfer)
        else:
            solution = _fixed_point(loop, entry, entry, lambda s: self._transfer_again(loop, s))
            solution = _narrowed(loop, entry, solution, lambda s: self._transfer_again(loop, s))
        self.solutions[id(loop.statement)] = solution.at_head
        self.evaluator.recording = recording
        return loop.transfer(solution.at_head.copy())[1] if recording else solution.after

    def _transfer_again(self, loop: _Loop, at_head: RangeState) -> LoopExits:
        self.iterates_again = True
        exits = loop.transfer(at_head)
        self.iterates_again = False
        return exits

    def _while(self, s: ir.While, entry: RangeState) -> RangeState | None:
        assert self.increments is not None
        increments = self.increments.per_iteration(s)
        assigned = induction_variables.assigned_in_loop(s)
        trip_count = self.increments.trip_count(s) if increments else 0
        at_body = induction_variables.bounds_after_iterations(
            entry, increments, trip_count - 1, assigned
        )
        bounds = induction_variables.bounds_after_iterations(
            entry, increments, trip_count, assigned
        )

        def transfer(at_head: RangeState) -> LoopExits:
            return self._while_iteration(s, at_head, at_body)

        return self._loop(_Loop(s, transfer, bounds, self.thresholds), entry)

    def _while_iteration(
        self, s: ir.While, at_head: RangeState, loop_bounds: LoopBounds
    ) -> LoopExits:
        at_body = self.evaluator.assume(s.condition, at_head.restricted_to(loop_bounds), True)
        end, at_break = self._iteration(s.body, at_body)
        return end, join(self.evaluator.assume(s.condition, at_head, False), at_break)

    def _iteration(self, body: ir.Body, at_body: RangeState | None) -> LoopExits:
        self.loops.append(_JumpStates())
        end = self.block(body, at_body)
        jumps = self.loops.pop()
        return join(end, jumps.at_continue), jumps.at_break

    def _for(self, s: ir.For, state: RangeState) -> RangeState | None:
        start, stop = self._value(s.start, state), self._value(s.stop, state)
        step = self._value(s.step, state).interval
        assert self.increments is not None
        assigned = induction_variables.assigned_in_loop(s)
        increments = self.increments.per_iteration(s)
        counter = _counter(start, stop, step, assigned)
        trip_count = induction_variables.max_trip_count(state.difference(stop, start), step)
        bounds_inside = induction_variables.bounds_after_iterations(
            state, increments, trip_count - 1, assigned
        )

        def transfer(at_head: RangeState) -> LoopExits:
            if counter is None or trip_count == 0:
                return None, at_head
            at_body = at_head.restricted_to(bounds_inside)
            self.evaluator.assign(s.var, counter, at_body)
            end, at_break = self._iteration(s.body, at_body)
            return end, join(at_head, at_break)

        bounds = induction_variables.bounds_after_iterations(
            state, increments, trip_count, assigned
        )
        return self._loop(_Loop(s, transfer, bounds, self.thresholds), state)


def _fixed_point(
    loop: _Loop, entry: RangeState, start: RangeState, transfer_again: LoopTransfer
) -> _LoopSolution:
    """Iterate with widening from ``start``, after the first iteration with ``transfer_again``."""
    at_head = start
    end, after = loop.transfer(at_head.copy())
    while not at_head.includes(loop.next_head(entry, end)):
        at_head = at_head.widened(loop.next_head(entry, end), loop.bounds, loop.thresholds)
        end, after = transfer_again(at_head.copy())
    return _LoopSolution(at_head, end, after)


def _narrowed(
    loop: _Loop, entry: RangeState, solution: _LoopSolution, transfer_again: LoopTransfer
) -> _LoopSolution:
    for _ in range(_NARROWING_ITERATIONS):
        at_head = loop.next_head(entry, solution.end)
        if at_head.includes(solution.at_head):
            break
        end, after = transfer_again(at_head.copy())
        if not at_head.includes(loop.next_head(entry, end)):
            break
        solution = _LoopSolution(at_head, end, after)
    return solution


def _counter(
    start: AbstractValue, stop: AbstractValue, step: Interval, assigned: set[str]
) -> AbstractValue | None:
    """Return the value of the loop variable in any iteration; None if the loop has no iteration."""
    first, limit = start.interval, stop.interval
    start_offsets = [f for f in start.offsets if f.symbol.name not in assigned]
    stop_offsets = [f for f in stop.offsets if f.symbol.name not in assigned]
    if step.low > 0:
        interval = Interval(first.low, limit.high - 1)
        offsets = [SymbolOffset(f.symbol, f.low, INFINITY) for f in start_offsets]
        offsets += [SymbolOffset(f.symbol, -INFINITY, f.high - 1) for f in stop_offsets]
    elif step.high < 0:
        interval = Interval(limit.low + 1, first.high)
        offsets = [SymbolOffset(f.symbol, -INFINITY, f.high) for f in start_offsets]
        offsets += [SymbolOffset(f.symbol, f.low + 1, INFINITY) for f in stop_offsets]
    else:
        return AbstractValue(
            Interval(min(first.low, limit.low + 1), max(first.high, limit.high - 1))
        )
    return None if interval.low > interval.high else AbstractValue(interval, merge_offsets(offsets))
