"""Reaching definitions in expressions, in the order of evaluation; targets are handled likewise."""

from __future__ import annotations

import ast

from pycu2c.base.records import dataclass, field
from pycu2c.frontend.scope.bindings import Comprehension, evaluated_outside, free_names, targets_of
from pycu2c.frontend.scope.reaching_state import NOTHING, Definition, ReachingState, join


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
        self.deferred_reads: list[
            ast.Name
        ] = []  # in nested functions: any definition may reach them
        self.unsplit: set[str] = set()  # names whose definitions stay one variable
        self.reach = ReachingState(dict.fromkeys(bound, NOTHING))
        self.loops: list[Jumps] = []
        self.heads: dict[
            ast.AST, ReachingState
        ] = {}  # the last state, at which an inner loop starts
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
            case ast.Compare(left=left, comparators=[first, *deferred_reads]):
                self.expression(left)
                self.expression(first)
                exits = [self.reach]
                for comparator in deferred_reads:
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
