"""Which whole numbers each expression of a function can give: intervals, sharpened by what
conditions say of variables and dimensions.

Sound for every execution of a node, so a proof from here may replace a check at run time.
It reads the built IR; ``narrow`` and ``legalize`` ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from pycu2c.ir.expression_rules import is_truth
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Body,
    Break,
    Continue,
    Declare,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    NextThread,
    Print,
    Return,
    Stmt,
    Store,
    ThreadLoop,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, operands, statements
from pycu2c.passes.evaluation import Evaluator, Facts, variable_term
from pycu2c.passes.intervals import ANYTHING, FAR, Interval, everything
from pycu2c.passes.knowledge import Form, Knowledge, Term, Value, join
from pycu2c.passes.value_arithmetic import merged
from pycu2c.types import Scalar

__all__ = ["Facts", "Interval", "Ranges", "analyse"]

_ROUNDS_OF_TIGHTENING = 2
# places of a thread that lie below another: threadIdx.x < blockDim.x
_BELOW = (("threadIdx", "blockDim"), ("blockIdx", "gridDim"), ("grid", "gridsize"))


@dataclass(frozen=True, slots=True)
class Ranges:
    """What ``analyse`` found. Holds the function, so that nodes keep their identity."""

    function: Function
    _nodes: Mapping[int, Interval]
    _variables: Mapping[str, Interval]
    _inside: Mapping[tuple[int, int], bool]

    def of(self, e: Expr) -> Interval:
        """All that this node can give; of its whole type if nothing ever comes there."""
        return self._nodes.get(id(e), everything(e.type))

    def variable(self, name: str) -> Interval:
        """All that a variable of whole numbers is ever assigned."""
        return self._variables.get(name, ANYTHING)

    def within(self, access: Load | ElementOf | Store, axis: int) -> bool:
        """Whether an index is proved to be at least 0 and less than the length of its axis."""
        return self._inside.get((id(access), axis), False)

    @staticmethod
    def everything(scalar: object) -> Interval:
        """All values of a type."""
        return everything(scalar)


def analyse(function: Function, facts: Facts) -> Ranges:
    """``if i > 0: x[i - 1]``: the node ``i - 1`` gives 0 or more."""
    evaluator = Evaluator(facts)
    known = _at_the_start(function, facts)
    for parameter in function.parameters:
        var = Var(parameter.name, parameter.type, function.span)
        whole = everything(parameter.type)
        if isinstance(parameter.type, Scalar):
            whole = facts.argument(parameter.type)
        evaluator.assign(var, Value(whole), known)
    _Walk(evaluator).block(function.body, known)
    return Ranges(function, evaluator.of_node, evaluator.of_variable, evaluator.inside)


def _at_the_start(function: Function, facts: Facts) -> Knowledge:
    """A variable that nothing has assigned reads 0; threads lie inside blocks, blocks in the
    grid."""
    known = Knowledge()
    for s in statements(function.body):
        if isinstance(s, (Assign, For)):
            term = variable_term(s.var)
            if term is not None:
                known.intervals[term] = Interval(0, 0)
    rows = {
        e.intrinsic.name: e.intrinsic
        for e in all_expressions(function.body)
        if isinstance(e, Apply)
    }
    for low, high in _BELOW:
        for axis in "xyz":
            inner, outer = rows.get(f"cuda.{low}.{axis}"), rows.get(f"cuda.{high}.{axis}")
            if inner is None or outer is None:
                continue
            bounds, limit = facts.bounds(inner), facts.bounds(outer)
            assert bounds is not None
            assert limit is not None
            known.relate(Term(outer.name, limit), Term(inner.name, bounds), 1)
    return known


Pass: TypeAlias = Callable[[Knowledge], tuple[Knowledge | None, Knowledge | None]]


@dataclass(slots=True)
class _Jumps:
    """What is known where a loop is left, and where its next round is begun, by a jump."""

    out: Knowledge | None = None
    on: Knowledge | None = None


@dataclass(slots=True)
class _Walk:
    """Each method takes what is known before a statement, uses it up, and gives what is known
    after; None if nothing comes there."""

    evaluator: Evaluator
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
                if is_truth(s.var.type):
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
                return self._loop(known, lambda head: self._while_once(s, head))
            case For():
                return self._for(s, known)
            case Break():
                self.loops[-1].out = join(self.loops[-1].out, known)
                return None
            case Continue():
                self.loops[-1].on = join(self.loops[-1].on, known)
                return None
            case Return():
                if s.value is not None:
                    self._value(s.value, known)
                return None
            case Allocate():
                pass
            case ThreadLoop() | NextThread():
                raise AssertionError("ranges are found before threads become loops")
            case _:
                assert_never(s)
        return known

    def _value(self, e: Expr, known: Knowledge) -> Value:
        return self.evaluator.value(e, known)

    def _if(self, s: If, known: Knowledge) -> Knowledge | None:
        then = self.evaluator.assume(s.condition, known.copy(), True)
        orelse = self.evaluator.assume(s.condition, known, False)
        return join(self.block(s.then, then), self.block(s.orelse, orelse))

    # ---- loops ----

    def _loop(self, entry: Knowledge, once: Pass) -> Knowledge | None:
        """Find what holds at the head in every round; then record what that gives.

        ``once``: the head of a round -> the end of the round, and what is known after the loop.
        """
        recording, self.evaluator.recording = self.evaluator.recording, False
        head = entry
        end, after = once(head.copy())
        while not head.covers(_again(entry, end)):
            head = head.widened(_again(entry, end))
            end, after = once(head.copy())
        for _ in range(_ROUNDS_OF_TIGHTENING):
            tighter = _again(entry, end)
            if tighter.covers(head):
                break
            tight_end, tight_after = once(tighter.copy())
            if not tighter.covers(_again(entry, tight_end)):
                break
            head, end, after = tighter, tight_end, tight_after
        self.evaluator.recording = recording
        return once(head)[1] if recording else after

    def _while_once(self, s: While, head: Knowledge) -> tuple[Knowledge | None, Knowledge | None]:
        inside = self.evaluator.assume(s.condition, head.copy(), True)
        end, broken = self._round(s.body, inside)
        return end, join(self.evaluator.assume(s.condition, head, False), broken)

    def _round(
        self, body: Body, inside: Knowledge | None
    ) -> tuple[Knowledge | None, Knowledge | None]:
        self.loops.append(_Jumps())
        end = self.block(body, inside)
        jumps = self.loops.pop()
        return join(end, jumps.on), jumps.out

    def _for(self, s: For, known: Knowledge) -> Knowledge | None:
        start, stop = self._value(s.start, known), self._value(s.stop, known)
        step = self._value(s.step, known).interval
        counter = _counter(start, stop, step, _changing(s))

        def once(head: Knowledge) -> tuple[Knowledge | None, Knowledge | None]:
            if counter is None:
                return None, head
            inside = head.copy()
            self.evaluator.assign(s.var, counter, inside)
            end, broken = self._round(s.body, inside)
            return end, join(head, broken)

        return self._loop(known, once)


def _again(entry: Knowledge, end: Knowledge | None) -> Knowledge:
    """What is known at the head of a loop that is entered, or come back to."""
    return entry if end is None else entry.joined(end)


def _changing(loop: For) -> set[str]:
    """The variables that the loop assigns: what the bounds said of them does not last."""
    assigned = {s.var.name for s in statements(loop.body) if isinstance(s, (Assign, Declare, For))}
    bound = {e.name for e in all_expressions(loop.body) if isinstance(e, Let)}
    return assigned | bound | {loop.var.name}


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
