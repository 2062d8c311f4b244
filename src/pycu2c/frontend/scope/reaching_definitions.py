"""Reaching definitions: which assignments may have set a local last, at each point of a function.

A forward data-flow analysis over the syntax tree; loops are iterated to a fixpoint.
"""

from __future__ import annotations

import ast
from typing import TypeAlias

from pycu2c.base.records import dataclass, field
from pycu2c.frontend.scope.bindings import (
    Comprehension,
    bindings,
    bound_name,
    evaluated_outside,
    free_names,
    parameters,
    targets_of,
)
from pycu2c.frontend.statements.unroll import UnrolledLoop

Definition: TypeAlias = ast.AST | None  # None: unassigned at the function's start
NOTHING: frozenset[Definition] = frozenset([None])


@dataclass(frozen=True, slots=True)
class ReachingState:
    """The definitions of each local that may reach a point.

    An unreachable point (``live`` is False) keeps the definitions of the text before it, so that
    names in dead code resolve. It adds nothing to reachable code.
    """

    sets: dict[str, frozenset[Definition]]
    live: bool = True

    def after(self, name: str, definition: ast.AST) -> ReachingState:
        return ReachingState({**self.sets, name: frozenset([definition])}, self.live)

    def dead(self) -> ReachingState:
        return ReachingState(self.sets, live=False)


def join(*points: ReachingState) -> ReachingState:
    """Return the state where paths join."""
    live = [p for p in points if p.live]
    first, *rest = live or points
    sets = {name: seen.union(*(p.sets[name] for p in rest)) for name, seen in first.sets.items()}
    return ReachingState(sets, bool(live))


@dataclass(slots=True)
class Jumps:
    """The states at the breaks and continues of a loop."""

    breaks: list[ReachingState] = field(default_factory=list)
    continues: list[ReachingState] = field(default_factory=list)


class ExpressionDefinitions:
    """The analysis of expressions; ``reach`` is the state at the current point."""

    def __init__(self, bound: dict[str, list[ast.AST]]) -> None:
        self.bound = bound
        self.reads: dict[ast.Name, set[Definition]] = {}
        self.dead_reads: dict[ast.Name, set[Definition]] = {}  # in unreachable code
        # in nested functions: any definition may reach them
        self.deferred_reads: list[ast.Name] = []
        self.unsplit: set[str] = set()  # names whose definitions stay one variable
        self.reach = ReachingState(dict.fromkeys(bound, NOTHING))
        self.loops: list[Jumps] = []
        # the last state at the head of a loop, at which an inner loop starts
        self.heads: dict[ast.AST, ReachingState] = {}
        self.hidden: frozenset[str] = frozenset()  # names bound by a comprehension

    def is_local(self, name: str) -> bool:
        return name in self.bound and name not in self.hidden

    def define(self, node: ast.AST, name: str | None) -> None:
        if name is not None and self.is_local(name):
            self.reach = self.reach.after(name, node)

    def read(self, node: ast.Name) -> None:
        if self.is_local(node.id):
            reads = self.reads if self.reach.live else self.dead_reads
            reads.setdefault(node, set()).update(self.reach.sets[node.id])

    def defer(self, node: ast.AST) -> None:
        """Handle code that runs later."""
        free = [name for name in free_names(node) if self.is_local(name.id)]
        self.deferred_reads += free
        self.unsplit.update(name.id for name in free)

    def children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self.expression(child)

    def expression(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                self.define(node, name)
            case ast.Name(id=name):
                self.read(node)
                if isinstance(node.ctx, ast.Del):
                    self.define(node, name)
            case ast.NamedExpr(target=target, value=value):
                self.expression(value)
                self.expression(target)
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                self.reach = join(*self.branch(node))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                then, otherwise = self.branch(test)
                self.reach = then
                self.expression(body)
                then, self.reach = self.reach, otherwise
                self.expression(orelse)
                self.reach = join(then, self.reach)
            case ast.Lambda():
                for outside in evaluated_outside(node):
                    self.expression(outside)
                self.defer(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                self.comprehension(node)
            case ast.GeneratorExp():
                self.comprehension(node)
                self.defer(node)
            case _:
                self.children(node)

    def branch(self, test: ast.expr) -> tuple[ReachingState, ReachingState]:
        """Return the states after a condition: where it holds, and where it fails."""
        match test:
            case ast.Constant(value=value):
                return (self.reach, self.reach.dead()) if value else (self.reach.dead(), self.reach)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                holds, fails = self.branch(operand)
                return fails, holds
            case ast.BoolOp(op=ast.And(), values=values):
                exits = []
                for value in values:
                    self.reach, fails = self.branch(value)
                    exits.append(fails)
                return self.reach, join(*exits)
            case ast.BoolOp(values=values):
                exits = []
                for value in values:
                    holds, self.reach = self.branch(value)
                    exits.append(holds)
                return join(*exits), self.reach
            case ast.Compare(left=left, comparators=[first, *comparators]):
                self.expression(left)
                self.expression(first)
                exits = [self.reach]
                for comparator in comparators:
                    self.expression(comparator)
                    exits.append(self.reach)
                return self.reach, join(*exits)
            case ast.NamedExpr(target=target, value=value):
                holds, self.reach = self.branch(value)
                self.expression(target)
                fails, self.reach = self.reach, holds
                self.expression(target)
                return self.reach, fails
            case _:
                self.expression(test)
                return self.reach, self.reach

    def comprehension(self, node: Comprehension) -> None:
        """Handle a comprehension: a loop in which a walrus binds names of the function."""
        self.expression(node.generators[0].iter)
        outer, self.hidden = self.hidden, self.hidden | targets_of(node)
        head = self.reach
        while (grown := join(head, self.comprehension_iteration(node, head))) != head:
            head = grown
        self.reach, self.hidden = head, outer

    def comprehension_iteration(self, node: Comprehension, head: ReachingState) -> ReachingState:
        self.reach = head
        exits: list[ReachingState] = []
        for position, generator in enumerate(node.generators):
            if position:
                self.expression(generator.iter)
            for condition in generator.ifs:
                self.reach, fails = self.branch(condition)
                exits.append(fails)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.comprehension):
                self.expression(child)
        return join(self.reach, *exits)


def reaching_definitions(function: ast.FunctionDef) -> ReachingDefinitions:
    """Analyze a function; the results are attributes of the analysis.

    They are ``reads``, ``dead_reads``, ``deferred_reads`` and ``unsplit``. A ``for`` over a
    constant non-empty ``range`` is assumed to run.
    """
    flow = ReachingDefinitions(bindings(function))
    for parameter in parameters(function.args):
        flow.define(parameter, parameter.arg)
    flow.block(function.body)
    return flow


class ReachingDefinitions(ExpressionDefinitions):
    """The analysis of statements; ``reach`` is the state at the current point."""

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self.expression(value)
                for target in targets:
                    self.expression(target)
            case ast.AugAssign():
                self.augmented(node)
            case ast.AnnAssign():
                self.annotated(node)
            case ast.If(test=test, body=body, orelse=orelse):
                then, otherwise = self.branch(test)
                self.reach = then
                self.block(body)
                then, self.reach = self.reach, otherwise
                self.block(orelse)
                self.reach = join(then, self.reach)
            case ast.While():
                self.while_loop(node)
            case ast.For() | ast.AsyncFor():
                self.for_loop(node)
            case UnrolledLoop():
                self.unrolled_loop(node)
            case ast.Break() | ast.Continue():
                if self.loops:
                    jumps = self.loops[-1]
                    ends = jumps.breaks if isinstance(node, ast.Break) else jumps.continues
                    ends.append(self.reach)
                self.reach = self.reach.dead()
            case ast.Return() | ast.Raise():
                self.children(node)
                self.reach = self.reach.dead()
            case ast.Assert(test=test, msg=message):  # may not be evaluated
                before = self.reach
                self.expression(test)
                after = self.reach
                if message is not None:
                    self.expression(message)
                self.reach = join(before, after)
            case ast.Match():
                self.match_statement(node)
            case ast.Try() | ast.TryStar():
                self.try_statement(node)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.children(item)
                self.block(node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for outside in evaluated_outside(node):
                    self.expression(outside)
                self.defer(node)
                self.define(node, node.name)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    self.define(alias, bound_name(alias))
            case _:  # Expr, Delete, Pass, Global, Nonlocal
                self.children(node)

    def augmented(self, node: ast.AugAssign) -> None:
        """Handle ``x += …``, which reads and then writes one variable."""
        if isinstance(node.target, ast.Name):
            self.read(node.target)
            self.expression(node.value)
            self.define(node.target, node.target.id)
        else:
            self.children(node)

    def annotated(self, node: ast.AnnAssign) -> None:
        """Handle ``x: T``: all bindings of a declared ``x`` are one variable."""
        if node.value is not None:
            self.expression(node.value)
            self.expression(node.target)
        if isinstance(node.target, ast.Name):
            self.unsplit.add(node.target.id)

    def while_loop(self, node: ast.While) -> None:
        head = self.head(node)
        while True:
            self.reach = head
            enter, leave = self.branch(node.test)
            body_end, breaks = self.loop_body(node.body, enter)
            if (grown := join(head, body_end)) == head:
                break
            head = grown
        self.leave_loop(node, head, leave, breaks)

    def for_loop(self, node: ast.For | ast.AsyncFor) -> None:
        self.expression(node.iter)
        runs = "range" not in self.bound and _runs_at_least_once(node.iter)
        head = self.head(node)
        while True:
            self.reach = head
            self.expression(node.target)
            body_end, breaks = self.loop_body(node.body, self.reach)
            if (grown := join(head, body_end)) == head:
                break
            head = grown
        self.leave_loop(node, head, body_end if runs else head, breaks)

    def unrolled_loop(self, node: UnrolledLoop) -> None:
        """Handle an unrolled loop: its iterations follow each other."""
        self.expression(node.iter)
        all_breaks: list[ReachingState] = []
        for iteration in node.iterations:
            before = self.reach
            self.expression(iteration.target)
            self.reach, breaks = self.loop_body(iteration.body, self.reach)
            all_breaks += breaks
            if node.is_guarded:
                self.reach = join(before, self.reach)
        self.block(node.orelse)
        self.reach = join(self.reach, *all_breaks)

    def head(self, loop: ast.AST) -> ReachingState:
        return join(self.reach, self.heads.get(loop, self.reach))

    def loop_body(
        self, body: list[ast.stmt], enter: ReachingState
    ) -> tuple[ReachingState, list[ReachingState]]:
        """Return the state at the end of an iteration, and the states at its breaks."""
        self.loops.append(Jumps())
        self.reach = enter
        self.block(body)
        jumps = self.loops.pop()
        return join(self.reach, *jumps.continues), jumps.breaks

    def leave_loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        head: ReachingState,
        leave: ReachingState,
        breaks: list[ReachingState],
    ) -> None:
        self.heads[node] = head
        self.reach = leave
        self.block(node.orelse)
        self.reach = join(self.reach, *breaks)

    def match_statement(self, node: ast.Match) -> None:
        self.expression(node.subject)
        ends: list[ReachingState] = []
        for case in node.cases:
            before = self.reach
            self.pattern(case.pattern)
            bound = self.reach
            enter, fails = (bound, bound.dead()) if case.guard is None else self.branch(case.guard)
            self.reach = enter
            self.block(case.body)
            ends.append(self.reach)
            is_irrefutable = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            # names are bound when the pattern has matched
            self.reach = fails if is_irrefutable else join(before, fails)
        self.reach = join(*ends, self.reach)

    def pattern(self, node: ast.pattern) -> None:
        if isinstance(node, ast.MatchOr):  # one alternative binds the names
            before, ends = self.reach, []
            for part in node.patterns:
                self.reach = before
                self.pattern(part)
                ends.append(self.reach)
            self.reach = join(*ends)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.pattern):
                self.pattern(child)
            else:
                self.expression(child)
        self.define(node, bound_name(node))

    def try_statement(self, node: ast.Try | ast.TryStar) -> None:
        """Handle ``try``: any statement may raise, so names bound inside are not split."""
        self.unsplit.update(name for inner in ast.walk(node) if (name := bound_name(inner)))
        before = self.reach
        self.block(node.body)
        raised = join(before, self.reach)
        self.block(node.orelse)
        ends = [self.reach]
        for handler in node.handlers:
            self.reach = raised
            self.define(handler, handler.name)
            self.block(handler.body)
            ends.append(self.reach)
        self.reach = join(*ends)
        self.block(node.finalbody)


def _runs_at_least_once(iterable: ast.expr) -> bool:
    """Return whether an iterable is a ``range`` of constant bounds that is not empty."""
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
            try:
                return len(range(*map(ast.literal_eval, arguments))) > 0
            except (ValueError, TypeError, OverflowError):  # not constants, or not a range
                return False
    return False
