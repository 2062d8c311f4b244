"""The loops of one ThreadLoop along the axes of the block, while they are made: what a body begins
with is put as far out as it can be, conditions become the bounds of loops. Knows no blocks and
no grid: where the axes come from is ``axis_loops``'s task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from pycu2c.analysis.effects import any_effect
from pycu2c.analysis.live_across_barriers import declared_names
from pycu2c.analysis.ranges.intervals import Interval, is_integral
from pycu2c.analysis.simd_legality import in_lockstep
from pycu2c.analysis.thread_bounds import AxisBound, BoundSolver, IsInvariant, conjuncts
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import VOID
from pycu2c.ir.builders import binary, integer, logical, negation
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    AxisLoop,
    Binary,
    Body,
    Cast,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Logical,
    LogicalOp,
    NextWorkItem,
    Select,
    Unary,
    Var,
)
from pycu2c.ir.walk import expressions, operands, statements
from pycu2c.ops.intrinsics.threads.cpu_block import at_least_1
from pycu2c.ops.operators import ADD, MUL, QUOTIENT, REMAINDER, SUB
from pycu2c.transforms.cpu.loops.loop_versioning import version_loop
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

LEAST_LANES = 4  # fewer threads are not worth a vector


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop along an axis: its variable, where it starts and stops if nothing is said."""

    var: Var
    start: Expr
    stop: Expr


@dataclass(slots=True)
class _Level:
    """Inside so many loops: declarations and conditions, in order, then the next loop."""

    steps: list[Declare | Evaluate | If | Expr] = field(default_factory=list)


@dataclass(slots=True)
class Nest:
    """The loops of one ThreadLoop while they are made. Level 0 is outside of all."""

    around: BoundSolver  # what is known outside of the ThreadLoop
    outside: Callable[[str], str]  # gives a variable that moves out of it a name
    effectful: Set[str]
    axes: Sequence[Axis]
    span: Span
    levels: list[_Level] = field(default_factory=list)
    bounds: list[list[AxisBound]] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)  # the level of each variable
    values: dict[str, Expr] = field(default_factory=dict)
    body: Body = ()

    def __post_init__(self) -> None:
        self.levels = [_Level() for _ in range(len(self.axes) + 1)]
        self.bounds = [[] for _ in self.axes]
        for number, axis in enumerate(self.axes, start=1):
            self.places[axis.var.name] = number

    @property
    def known(self) -> BoundSolver:
        found = replace(self.around, values={**self.around.values, **self.values})
        loops = dict(found.loops)
        for axis in self.axes:
            loops[axis.var.name] = Interval(found.of(axis.start).low, found.of(axis.stop).high - 1)
        return replace(found, loops=loops)

    def take(self, body: Body) -> None:
        """Put what a body begins with where it belongs, and keep the rest."""
        for name in declared_names(body):
            self.places[name] = len(self.axes)
        changed = {s.var.name for s in statements(body) if isinstance(s, Assign)}
        while body and not (isinstance(body[0], Declare | If) and self._acts(body[0])):
            match body:
                case (Declare() as s, *rest):
                    body = self._declare(s, tuple(rest), changed)
                case (If(condition, (NextWorkItem(),), ()), *rest):
                    left = self._conditions(negation(condition), changed)
                    body = tuple(rest)
                    if left is not None:
                        ends = If(negation(left), (NextWorkItem(left.span),), (), left.span)
                        self.levels[-1].steps.append(ends)
                case (If(condition, then, ()),):
                    left = self._conditions(condition, changed)
                    body = then
                    if left is not None:
                        self.body = (If(left, then, (), left.span),)
                        return
                case _:
                    break
        self.body = body

    def _acts(self, s: Declare | If) -> bool:
        """Whether what it evaluates first has an effect, which all threads are to have."""
        return any(any_effect(value, frozenset(self.effectful)) for value in operands(s))

    def _declare(self, s: Declare, rest: Body, changed: Set[str]) -> Body:
        """Declare as far out as it can be; returns what comes after it."""
        level = len(self.axes)
        if s.init is not None and s.var.name not in changed:
            if _is_arithmetic(s.init):
                level = self._level(s.init)
            self.values[s.var.name] = s.init
        if level == 0:
            name = self.outside(s.var.name)
            rest = rename_variables(rest, {s.var.name: name}) if name != s.var.name else rest
            self.values[name] = self.values[s.var.name]
            s = replace(s, var=replace(s.var, name=name))
        self.places[s.var.name] = level
        self.levels[level].steps.append(s)
        return rest

    def _level(self, e: Expr) -> int:
        """In how many loops a number has to be computed."""
        names = [x.name for x in expressions(e) if isinstance(x, Var)]
        return max((self.places.get(name, 0) for name in names), default=0)

    def _conditions(self, condition: Expr, changed: Set[str]) -> Expr | None:
        """Take what can be said outside of the innermost loop; return what is left."""
        left: Expr | None = None
        for part in conjuncts(condition):
            if _is_arithmetic(part) and self._said(part):
                continue
            left = part if left is None else logical(LogicalOp.AND, left, part, part.span)
        return left

    def _said(self, condition: Expr) -> bool:
        level = self._level(condition)
        if level:
            axis = self.axes[level - 1].var
            bound = self.known.bound(condition, axis, self._steady(level))
            if bound is not None and not (bound.step and self._steps_along(level)):
                self.bounds[level - 1].append(bound)
                return True
        if level == len(self.axes):
            return False
        self.levels[level].steps.append(condition)
        return True

    def _steady(self, level: int) -> IsInvariant:
        """Whether a number is the same for all threads along an axis."""
        return lambda e: self._level(e) < level

    def _steps_along(self, level: int) -> bool:
        """Whether a loop has a step already: it has one at most."""
        return any(bound.step for bound in self.bounds[level - 1])

    # ---- the loops ----

    def loops(self) -> Body:
        body = (*self._steps(self.levels[-1], self.body),)
        for number in reversed(range(len(self.axes))):
            loop = version_loop(self._loop(number, body), self.known, self._steady(number + 1))
            body = self._steps(self.levels[number], (loop,))
        return body

    def _steps(self, level: _Level, body: Body) -> Body:
        for step in reversed(level.steps):
            if isinstance(step, Declare | Evaluate | If):
                body = (step, *body)
            else:
                body = (If(step, body, (), step.span),)
        return body

    def _filled(self, body: Body) -> list[Evaluate]:
        """What bounds loops inside of one in lockstep and is 1 or more: gcc wants to know it."""
        found: dict[str, Var] = {}
        for s in statements(body):
            if (
                isinstance(s, For)
                and isinstance(s.stop, Var)
                and self.places.get(s.stop.name, 0) == 0
            ):
                if self.known.of(s.stop).low >= 1 and self.known.of(s.start).high < 1:
                    found[s.stop.name] = s.stop
        return [Evaluate(Apply(at_least_1, (v,), VOID, v.span), v.span) for v in found.values()]

    def _loop(self, number: int, body: Body) -> AxisLoop:
        axis, known = self.axes[number], self.known
        start, stop = axis.start, axis.stop
        for bound in self.bounds[number]:
            if bound.start is not None:
                start = known.maximum(start, bound.start)
            if bound.stop is not None:
                stop = known.minimum(stop, bound.stop)
        steps = [bound.step for bound in self.bounds[number] if bound.step is not None]
        step = steps[0] if steps else integer(1, self.span)
        if steps:  # that far no multiple is beyond 64 bits
            start = _multiple(known.minimum(start, axis.stop), step)
        innermost = number == len(self.axes) - 1
        wide = not steps and known.of(stop).high - known.of(start).low >= LEAST_LANES
        lockstep = innermost and wide and in_lockstep(axis.var, body, self.effectful)
        if lockstep:
            self.levels[0].steps += self._filled(body)
        return AxisLoop(axis.var, start, stop, step, body, lockstep, self.span)


def _multiple(e: Expr, step: Expr) -> Expr:
    """The first multiple of a step from a number on; both are not negative."""
    if isinstance(e, Const) and e.value == 0:
        return e
    whole = binary(ADD, e, binary(SUB, step, integer(1, e.span), e.span), e.span)
    return binary(MUL, binary(QUOTIENT, whole, step, e.span), step, e.span)


def _is_arithmetic(e: Expr) -> bool:
    """Whether an expression may be computed earlier, and though nobody wants it."""
    return all(_is_harmless(x) for x in expressions(e))


def _is_harmless(e: Expr) -> bool:
    match e:
        case Const() | Var() | Unary() | Cast() | Logical() | Select():
            return True
        case Binary(op=op, right=right):
            return op not in (QUOTIENT, REMAINDER) or isinstance(right, Const)
        case Apply(intrinsic=row):
            return row.is_pure and is_integral(e.type)
        case _:
            return False
