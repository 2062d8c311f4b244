"""What is known before and after each statement of a function: branches join, loops are gone
round until what holds at their head has settled. Tells it to nobody but the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from pycu2c.analysis import induction_variables
from pycu2c.analysis.ranges.arithmetic import merged
from pycu2c.analysis.ranges.domain import Form, Knowledge, Reach, Value, join
from pycu2c.analysis.ranges.evaluate import Evaluator
from pycu2c.analysis.ranges.intervals import FAR, Interval, everything
from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    AxisLoop,
    Binary,
    BlockLoop,
    Body,
    Break,
    Continue,
    CText,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    NextThread,
    Print,
    Return,
    Select,
    Stmt,
    Store,
    Strips,
    ThreadLoop,
    ThreadSteps,
    Wait,
    While,
)
from pycu2c.ir.verify_expressions import is_truth
from pycu2c.ir.walk import operands

_ROUNDS_OF_TIGHTENING = 2

Ends: TypeAlias = tuple[Knowledge | None, Knowledge | None]
Pass: TypeAlias = Callable[[Knowledge], Ends]  # head of a round -> its end, and after the loop
Settled: TypeAlias = tuple[Knowledge, Knowledge | None]  # at the head, and after the loop


@dataclass(slots=True)
class _Jumps:
    """What is known where a loop is left, and where its next round is begun, by a jump."""

    out: Knowledge | None = None
    on: Knowledge | None = None


@dataclass(slots=True)
class Walk:
    """Each method takes what is known before a statement, uses it up, and gives what is known
    after; None if nothing comes there."""

    evaluator: Evaluator
    paces: induction_variables.Paces | None  # of a function with loops
    returned: Interval | None = None  # where the results lie of a function that gives an int
    loops: list[_Jumps] = field(default_factory=list)

    def block(self, body: Body, known: Knowledge | None) -> Knowledge | None:
        for s in body:
            if known is None:
                return None
            known = self.statement(s, known)
        return known

    def statement(self, s: Stmt, known: Knowledge) -> Knowledge | None:
        match s:
            case Assign():
                self.evaluator.assign(s.var, self._value(s.value, known), known)
                if is_truth(s.var.type) or isinstance(s.value, (Binary, Select, Apply)):
                    known.mean(s.var.name, s.value)
            case Declare():
                nothing = Value(everything(s.var.type))
                value = self._value(s.init, known) if s.init else nothing
                self.evaluator.assign(s.var, value, known)
            case Store():
                self._value(s.value, known)
                self.evaluator.access(s, known)
            case Evaluate() | Print():
                for e in operands(s):
                    self._value(e, known)
            case If():
                return self._if(s, known)
            case While():
                return self._while(s, known)
            case For():
                return self._for(s, known)
            case Break():
                self.loops[-1].out = join(self.loops[-1].out, known)
                return None
            case Continue():
                self.loops[-1].on = join(self.loops[-1].on, known)
                return None
            case Return():
                self._return(s, known)
                return None
            case Allocate() | CText():
                pass
            case (
                ThreadLoop()
                | Strips()
                | AxisLoop()
                | BlockLoop()
                | NextThread()
                | Wait()
                | ThreadSteps()
            ):
                raise AssertionError("ranges are found before threads meet or become loops")
            case _:
                assert_never(s)
        return known

    def _value(self, e: Expr, known: Knowledge) -> Value:
        return self.evaluator.value(e, known)

    def _return(self, s: Return, known: Knowledge) -> None:
        if s.value is not None:
            result = self._value(s.value, known).interval
            if self.evaluator.recording:
                self.returned = self.returned.joined(result) if self.returned else result

    def _if(self, s: If, known: Knowledge) -> Knowledge | None:
        then = self.evaluator.assume(s.condition, known.copy(), True)
        orelse = self.evaluator.assume(s.condition, known, False)
        return join(self.block(s.then, then), self.block(s.orelse, orelse))

    # ---- loops ----

    def _loop(self, entry: Knowledge, once: Pass, reach: Reach) -> Knowledge | None:
        """Find what holds at the head in every round; then record what that gives."""
        recording, self.evaluator.recording = self.evaluator.recording, False
        head, after = _settled(entry, once, reach)
        self.evaluator.recording = recording
        return once(head)[1] if recording else after

    def _while(self, s: While, entry: Knowledge) -> Knowledge | None:
        assert self.paces is not None
        moves, changed = self.paces.round(s), induction_variables.changed_by(s)
        rounds = self.paces.rounds(s) if moves else 0
        inside = induction_variables.reach_of(entry, moves, rounds - 1, changed)
        return self._loop(
            entry,
            lambda head: self._while_once(s, head, inside),
            induction_variables.reach_of(entry, moves, rounds, changed),
        )

    def _while_once(self, s: While, head: Knowledge, reach: Reach) -> Ends:
        inside = self.evaluator.assume(s.condition, head.within(reach), True)
        end, broken = self._round(s.body, inside)
        return end, join(self.evaluator.assume(s.condition, head, False), broken)

    def _round(self, body: Body, inside: Knowledge | None) -> Ends:
        self.loops.append(_Jumps())
        end = self.block(body, inside)
        jumps = self.loops.pop()
        return join(end, jumps.on), jumps.out

    def _for(self, s: For, known: Knowledge) -> Knowledge | None:
        start, stop = self._value(s.start, known), self._value(s.stop, known)
        step = self._value(s.step, known).interval
        assert self.paces is not None
        changed, moves = induction_variables.changed_by(s), self.paces.round(s)
        counter = _counter(start, stop, step, changed)
        rounds = induction_variables.rounds_of_range(known.difference(stop, start), step)
        begun = induction_variables.reach_of(known, moves, rounds - 1, changed)

        def once(head: Knowledge) -> Ends:
            if counter is None or rounds == 0:
                return None, head
            inside = head.within(begun)
            self.evaluator.assign(s.var, counter, inside)
            end, broken = self._round(s.body, inside)
            return end, join(head, broken)

        return self._loop(known, once, induction_variables.reach_of(known, moves, rounds, changed))


def _settled(entry: Knowledge, once: Pass, reach: Reach) -> Settled:
    """What holds at the head of a loop in every round, and what is known after the loop."""

    def again(end: Knowledge | None) -> Knowledge:
        """What is known at the head of a loop that is entered, or come back to."""
        return entry.joined(end.within(reach)) if end else entry

    head = entry
    end, after = once(head.copy())
    while not head.covers(again(end)):
        head = head.widened(again(end), reach)
        end, after = once(head.copy())
    for _ in range(_ROUNDS_OF_TIGHTENING):
        tighter = again(end)
        if tighter.covers(head):
            break
        tight_end, tight_after = once(tighter.copy())
        if not tighter.covers(again(tight_end)):
            break
        head, end, after = tighter, tight_end, tight_after
    return head, after


def _counter(start: Value, stop: Value, step: Interval, changing: set[str]) -> Value | None:
    """The value of a loop's variable in any round; None if there is no round."""
    first, end = start.interval, stop.interval
    firsts = [f for f in start.forms if f.term.name not in changing]
    ends = [f for f in stop.forms if f.term.name not in changing]
    if step.low > 0:
        interval = Interval(first.low, end.high - 1)
        forms = [Form(f.term, f.low, FAR) for f in firsts]
        forms += [Form(f.term, -FAR, f.high - 1) for f in ends]
    elif step.high < 0:
        interval = Interval(end.low + 1, first.high)
        forms = [Form(f.term, -FAR, f.high) for f in firsts]
        forms += [Form(f.term, f.low + 1, FAR) for f in ends]
    else:
        return Value(Interval(min(first.low, end.low + 1), max(first.high, end.high - 1)))
    return None if interval.low > interval.high else Value(interval, merged(forms))
