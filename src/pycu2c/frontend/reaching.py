"""Which assignments may have set a local last, at each point of a function's syntax tree.

A forward walk that carries, for each local, the nodes that may have bound it last. Loops are
walked until nothing more reaches their head. Knows no types, and no names of variables.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeAlias

from pycu2c.frontend.bindings import (
    Comprehension,
    bindings,
    bound_name,
    evaluated_outside,
    free_names,
    parameters,
    targets_of,
)


def reaching(function: ast.FunctionDef) -> Flow:
    """Walk a function; ``reads``, ``dead_reads``, ``later`` and ``unsplit`` tell what was found.

    ``range`` is taken to be Python's: a ``for`` over a constant range that is not empty runs.
    """
    flow = Flow(bindings(function))
    for parameter in parameters(function.args):
        flow.define(parameter, parameter.arg)
    flow.block(function.body)
    return flow


# ---- what reaches a point --------------------------------------------------------------------

Definition: TypeAlias = ast.AST | None  # None: the function's start, where nothing is assigned
NOTHING: frozenset[Definition] = frozenset([None])


@dataclass(frozen=True, slots=True)
class Reach:
    """What may have bound each local last. A point that cannot run (``live`` is False) keeps
    what the text before it suggests, so that dead code has names; it adds nothing to live code."""

    sets: dict[str, frozenset[Definition]]
    live: bool = True

    def after(self, name: str, definition: ast.AST) -> Reach:
        return Reach({**self.sets, name: frozenset([definition])}, self.live)

    def dead(self) -> Reach:
        return Reach(self.sets, live=False)


def join(*points: Reach) -> Reach:
    """What reaches the place where several paths meet."""
    live = [p for p in points if p.live]
    first, *rest = live or points
    sets = {name: seen.union(*(p.sets[name] for p in rest)) for name, seen in first.sets.items()}
    return Reach(sets, bool(live))


# ---- the walk --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Jumps:
    """The points from which a loop is left or continued."""

    breaks: list[Reach] = field(default_factory=list)
    continues: list[Reach] = field(default_factory=list)


class Flow:
    """``reach`` is what reaches the point where the walk stands."""

    def __init__(self, bound: dict[str, list[ast.AST]]) -> None:
        self.bound = bound
        self.reads: dict[ast.Name, set[Definition]] = {}
        self.dead_reads: dict[ast.Name, set[Definition]] = {}  # of code that cannot run
        self.later: list[ast.Name] = []  # reads of nested functions: they may see any definition
        self.unsplit: set[str] = set()  # where the flow is not followed: one variable
        self.reach = Reach(dict.fromkeys(bound, NOTHING))
        self.loops: list[_Jumps] = []
        self.heads: dict[ast.AST, Reach] = {}  # so that an inner loop starts where it ended
        self.hidden: frozenset[str] = frozenset()  # names that are a comprehension's own

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
        """Code that runs at some later time."""
        free = [name for name in free_names(node) if self.is_local(name.id)]
        self.later += free
        self.unsplit.update(name.id for name in free)

    # -- statements --

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
            case ast.Break() | ast.Continue():
                if self.loops:
                    jumps = self.loops[-1]
                    ends = jumps.breaks if isinstance(node, ast.Break) else jumps.continues
                    ends.append(self.reach)
                self.reach = self.reach.dead()
            case ast.Return() | ast.Raise():
                self.children(node)
                self.reach = self.reach.dead()
            case ast.Assert(test=test, msg=message):  # may not be evaluated at all
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
        """Reads, then writes, the same variable: C writes ``x += ...`` too."""
        if isinstance(node.target, ast.Name):
            self.read(node.target)
            self.expression(node.value)
            self.define(node.target, node.target.id)
        else:
            self.children(node)

    def annotated(self, node: ast.AnnAssign) -> None:
        """``x: T`` alone declares: whatever binds ``x`` is that one variable."""
        if node.value is not None:
            self.expression(node.value)
            self.expression(node.target)
        elif isinstance(node.target, ast.Name):
            self.unsplit.add(node.target.id)

    def while_loop(self, node: ast.While) -> None:
        head = self.head(node)
        while True:
            self.reach = head
            enter, leave = self.branch(node.test)
            again, breaks = self.loop_body(node.body, enter)
            if (grown := join(head, again)) == head:
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
            again, breaks = self.loop_body(node.body, self.reach)
            if (grown := join(head, again)) == head:
                break
            head = grown
        self.leave_loop(node, head, again if runs else head, breaks)

    def head(self, loop: ast.AST) -> Reach:
        return join(self.reach, self.heads.get(loop, self.reach))

    def loop_body(self, body: list[ast.stmt], enter: Reach) -> tuple[Reach, list[Reach]]:
        """What reaches the end of a round, and the points that break out of it."""
        self.loops.append(_Jumps())
        self.reach = enter
        self.block(body)
        jumps = self.loops.pop()
        return join(self.reach, *jumps.continues), jumps.breaks

    def leave_loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        head: Reach,
        leave: Reach,
        breaks: list[Reach],
    ) -> None:
        self.heads[node] = head
        self.reach = leave
        self.block(node.orelse)
        self.reach = join(self.reach, *breaks)

    def match_statement(self, node: ast.Match) -> None:
        self.expression(node.subject)
        ends: list[Reach] = []
        for case in node.cases:
            before = self.reach
            self.pattern(case.pattern)
            bound = self.reach
            enter, fails = (bound, bound.dead()) if case.guard is None else self.branch(case.guard)
            self.reach = enter
            self.block(case.body)
            ends.append(self.reach)
            always = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            self.reach = fails if always else join(before, bound, fails)
        self.reach = join(*ends, self.reach)

    def pattern(self, node: ast.pattern) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.pattern):
                self.pattern(child)
            else:
                self.expression(child)
        self.define(node, bound_name(node))

    def try_statement(self, node: ast.Try | ast.TryStar) -> None:
        """An exception may come from anywhere: what is bound inside is not split."""
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

    # -- expressions, in the order of evaluation; targets are walked like expressions --

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

    def branch(self, test: ast.expr) -> tuple[Reach, Reach]:
        """What reaches the places behind a condition: where it holds, where it does not."""
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
            case ast.Compare(left=left, comparators=[first, *later]):
                self.expression(left)
                self.expression(first)
                exits = [self.reach]
                for comparator in later:
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
        """A loop whose targets are its own, and in which a walrus binds the function's names."""
        self.expression(node.generators[0].iter)
        outer, self.hidden = self.hidden, self.hidden | targets_of(node)
        head = self.reach
        while (grown := join(head, self.comprehension_round(node, head))) != head:
            head = grown
        self.reach, self.hidden = head, outer

    def comprehension_round(self, node: Comprehension, head: Reach) -> Reach:
        self.reach = head
        exits: list[Reach] = []
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


def _runs_at_least_once(iterable: ast.expr) -> bool:
    """``range(4)``: true where the bounds are constants and the range is not empty."""
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
            try:
                return len(range(*map(ast.literal_eval, arguments))) > 0
            except (ValueError, TypeError, OverflowError):  # not constants, or not a range
                return False
    return False
