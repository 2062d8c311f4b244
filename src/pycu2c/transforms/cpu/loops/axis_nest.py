"""Build the axis loops of one work-item loop: hoist declarations and turn conditions into bounds.

``axis_loops`` chooses the axes; this module does not depend on blocks and grids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from pycu2c.analysis.effects import any_effect, is_speculatable
from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.analysis.simd_legality import in_lockstep
from pycu2c.analysis.thread_bounds import AxisBound, BoundSolver, IsInvariant, conjuncts
from pycu2c.analysis.variables import assigned_names, declared_names
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import VOID
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer, logical, negation
from pycu2c.ir.walk import expressions, operands, statements
from pycu2c.ops.intrinsics.threads.cpu_block import at_least_1
from pycu2c.ops.operators import ADD, C_DIV, MUL, SUB
from pycu2c.transforms.cpu.loops.loop_versioning import version_loop
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

MIN_LANES = 4  # narrower loops are not vectorized


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop along an axis: its variable, and its default start and stop."""

    var: ir.Var
    start: ir.Expr
    stop: ir.Expr


@dataclass(slots=True)
class _Level:
    """The statements and conditions at one nesting depth, before the next loop."""

    prologue: list[ir.Declare | ir.Evaluate | ir.If | ir.Expr] = field(default_factory=list)


@dataclass(slots=True)
class AxisNest:
    """The loops of one work-item loop under construction; level 0 is outside all loops."""

    outer_solver: BoundSolver  # ranges outside the work-item loop
    hoisted_name: Callable[[str], str]  # names a variable that moves out of it
    effectful: Set[str]
    axes: Sequence[Axis]
    span: Span
    levels: list[_Level] = field(default_factory=list)
    bounds: list[list[AxisBound]] = field(default_factory=list)
    levels_of: dict[str, int] = field(default_factory=dict)  # level of each variable
    values: dict[str, ir.Expr] = field(default_factory=dict)
    body: ir.Body = ()

    def __post_init__(self) -> None:
        self.levels = [_Level() for _ in range(len(self.axes) + 1)]
        self.bounds = [[] for _ in self.axes]
        for index, axis in enumerate(self.axes, start=1):
            self.levels_of[axis.var.name] = index

    @property
    def solver(self) -> BoundSolver:
        solver = replace(self.outer_solver, values={**self.outer_solver.values, **self.values})
        loops = dict(solver.loops)
        for axis in self.axes:
            loops[axis.var.name] = Interval(
                solver.of(axis.start).low, solver.of(axis.stop).high - 1
            )
        return replace(solver, loops=loops)

    def add_body(self, body: ir.Body) -> None:
        """Distribute the leading declarations and conditions of a body over the levels."""
        for name in declared_names(body):
            self.levels_of[name] = len(self.axes)
        changed = assigned_names(body)
        while body and not (isinstance(body[0], ir.Declare | ir.If) and self._has_effect(body[0])):
            match body:
                case (ir.Declare() as s, *rest):
                    body = self._declare(s, tuple(rest), changed)
                case (ir.If(condition, (ir.NextWorkItem(),), ()), *rest):
                    remaining = self._move_conditions(negation(condition))
                    body = tuple(rest)
                    if remaining is not None:
                        end_threads = ir.If(
                            negation(remaining),
                            (ir.NextWorkItem(remaining.span),),
                            (),
                            remaining.span,
                        )
                        self.levels[-1].prologue.append(end_threads)
                case (ir.If(condition, then, ()),):
                    remaining = self._move_conditions(condition)
                    body = then
                    if remaining is not None:
                        self.body = (ir.If(remaining, then, (), remaining.span),)
                        return
                case _:
                    break
        self.body = body

    def _has_effect(self, s: ir.Declare | ir.If) -> bool:
        """Return whether the first expressions of a statement have side effects."""
        return any(any_effect(value, frozenset(self.effectful)) for value in operands(s))

    def _declare(self, s: ir.Declare, rest: ir.Body, changed: Set[str]) -> ir.Body:
        """Declare a variable at the outermost possible level; return the rest of the body."""
        level = len(self.axes)
        if s.init is not None and s.var.name not in changed:
            if is_speculatable(s.init):
                level = self._level(s.init)
            self.values[s.var.name] = s.init
        if level == 0:
            name = self.hoisted_name(s.var.name)
            rest = rename_variables(rest, {s.var.name: name}) if name != s.var.name else rest
            self.values[name] = self.values[s.var.name]
            s = replace(s, var=replace(s.var, name=name))
        self.levels_of[s.var.name] = level
        self.levels[level].prologue.append(s)
        return rest

    def _level(self, e: ir.Expr) -> int:
        """Return the number of loops that the operands of an expression depend on."""
        names = [x.name for x in expressions(e) if isinstance(x, ir.Var)]
        return max((self.levels_of.get(name, 0) for name in names), default=0)

    def _move_conditions(self, condition: ir.Expr) -> ir.Expr | None:
        """Move conjuncts out of the innermost loop; return those that remain."""
        remaining: ir.Expr | None = None
        for conjunct in conjuncts(condition):
            if is_speculatable(conjunct) and self._move_condition(conjunct):
                continue
            remaining = (
                conjunct
                if remaining is None
                else logical(ir.LogicalOp.AND, remaining, conjunct, conjunct.span)
            )
        return remaining

    def _move_condition(self, condition: ir.Expr) -> bool:
        """Move a condition to a bound or a prologue; return False if neither is possible."""
        level = self._level(condition)
        if level:
            axis = self.axes[level - 1].var
            bound = self.solver.bound(condition, axis, self._invariance_test(level))
            if bound is not None and not (bound.step and self._has_step(level)):
                self.bounds[level - 1].append(bound)
                return True
        if level == len(self.axes):
            return False
        self.levels[level].prologue.append(condition)
        return True

    def _invariance_test(self, level: int) -> IsInvariant:
        """Return a test whether an expression is the same for all threads of an axis."""
        return lambda e: self._level(e) < level

    def _has_step(self, level: int) -> bool:
        """Return whether a loop already has a step."""
        return any(bound.step for bound in self.bounds[level - 1])

    # ---- the loops ----

    def loops(self) -> ir.Body:
        """Return the nested loops, each after the prologue of its level."""
        body = (*self._with_prologue(self.levels[-1], self.body),)
        for index in reversed(range(len(self.axes))):
            loop = version_loop(
                self._loop(index, body), self.solver, self._invariance_test(index + 1)
            )
            body = self._with_prologue(self.levels[index], (loop,))
        return body

    def _with_prologue(self, level: _Level, body: ir.Body) -> ir.Body:
        for node in reversed(level.prologue):
            if isinstance(node, ir.Declare | ir.Evaluate | ir.If):
                body = (node, *body)
            else:  # a condition
                body = (ir.If(node, body, (), node.span),)
        return body

    def _nonempty_assertions(self, body: ir.Body) -> list[ir.Evaluate]:
        """Assert that bounds of nested loops are at least 1, which helps gcc to vectorize."""
        result: dict[str, ir.Var] = {}
        for s in statements(body):
            if (
                isinstance(s, ir.For)
                and isinstance(s.stop, ir.Var)
                and self.levels_of.get(s.stop.name, 0) == 0
            ):
                if self.solver.of(s.stop).low >= 1 and self.solver.of(s.start).high < 1:
                    result[s.stop.name] = s.stop
        return [
            ir.Evaluate(ir.Apply(at_least_1, (v,), VOID, v.span), v.span) for v in result.values()
        ]

    def _loop(self, index: int, body: ir.Body) -> ir.AxisLoop:
        axis, solver = self.axes[index], self.solver
        start, stop = axis.start, axis.stop
        for bound in self.bounds[index]:
            if bound.start is not None:
                start = solver.maximum(start, bound.start)
            if bound.stop is not None:
                stop = solver.minimum(stop, bound.stop)
        steps = [bound.step for bound in self.bounds[index] if bound.step is not None]
        step = steps[0] if steps else integer(1, self.span)
        if steps:  # a multiple beyond axis.stop may exceed 64 bits
            start = _round_up(solver.minimum(start, axis.stop), step)
        is_innermost = index == len(self.axes) - 1
        is_wide = not steps and solver.of(stop).high - solver.of(start).low >= MIN_LANES
        lockstep = is_innermost and is_wide and in_lockstep(axis.var, body, self.effectful)
        if lockstep:
            self.levels[0].prologue += self._nonempty_assertions(body)
        return ir.AxisLoop(axis.var, start, stop, step, body, lockstep, self.span)


def _round_up(e: ir.Expr, step: ir.Expr) -> ir.Expr:
    """Round a nonnegative number up to a multiple of a step."""
    if isinstance(e, ir.Const) and e.value == 0:
        return e
    raised = binary(ADD, e, binary(SUB, step, integer(1, e.span), e.span), e.span)
    return binary(MUL, binary(C_DIV, raised, step, e.span), step, e.span)
