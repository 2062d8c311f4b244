"""Reaching definitions: which assignments may have set a local last, at each point of a function.

A forward data-flow analysis over the syntax tree; loops are iterated to a fixpoint.
"""

from __future__ import annotations

import ast

from pycu2c.frontend.scope.bindings import bindings, bound_name, evaluated_outside, parameters
from pycu2c.frontend.scope.reaching_definitions_expressions import ExpressionDefinitions, Jumps
from pycu2c.frontend.scope.reaching_state import ReachingState, join
from pycu2c.frontend.statements.unroll import UnrolledLoop


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
            next_pass, breaks = self.loop_body(node.body, enter)
            if (grown := join(head, next_pass)) == head:
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
            next_pass, breaks = self.loop_body(node.body, self.reach)
            if (grown := join(head, next_pass)) == head:
                break
            head = grown
        self.leave_loop(node, head, next_pass if runs else head, breaks)

    def unrolled_loop(self, node: UnrolledLoop) -> None:
        """Handle an unrolled loop: its iterations follow each other."""
        self.expression(node.iter)
        left: list[ReachingState] = []
        for written in node.iterations:
            before = self.reach
            self.expression(written.target)
            self.reach, breaks = self.loop_body(written.body, self.reach)
            left += breaks
            if node.is_guarded:
                self.reach = join(before, self.reach)
        self.block(node.orelse)
        self.reach = join(self.reach, *left)

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
            always = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            self.reach = (
                fails if always else join(before, fails)
            )  # names are bound when the pattern has matched
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
