"""Reaching definitions: which assignments may have set a local last, at each point of a function.

A forward data-flow analysis over the syntax tree of a function in the supported subset; loops are
iterated to a fixpoint. The front end
splits a local into variables: definitions that reach a common read share one (``live_ranges``).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.base.records import dataclass, field
from pycu2c.frontend.scope.bindings import (
    Comprehension,
    bindings,
    bound_name,
    comprehension_targets,
    defaults,
    free_names,
    parameters,
)
from pycu2c.frontend.statements.unroll import UnrolledLoop

Definition: TypeAlias = ast.AST | None  # None: unassigned at the function's start
UNASSIGNED: frozenset[Definition] = frozenset([None])


@dataclass(frozen=True, slots=True)
class ReachingState:
    """The definitions of each local that may reach a point.

    An unreachable point keeps the definitions of the text before it, so that names in dead code
    resolve. It adds nothing to reachable code.
    """

    sets: dict[str, frozenset[Definition]]
    is_reachable: bool = True

    def with_definition(self, name: str, definition: ast.AST) -> ReachingState:
        return ReachingState({**self.sets, name: frozenset([definition])}, self.is_reachable)

    def as_unreachable(self) -> ReachingState:
        return ReachingState(self.sets, is_reachable=False)


def join(*states: ReachingState) -> ReachingState:
    """Return the state where paths join."""
    reachable = [s for s in states if s.is_reachable]
    first, *rest = reachable or states
    sets = {
        name: definitions.union(*(s.sets[name] for s in rest))
        for name, definitions in first.sets.items()
    }
    return ReachingState(sets, bool(reachable))


@dataclass(slots=True)
class Jumps:
    """The states at the breaks and continues of a loop."""

    breaks: list[ReachingState] = field(default_factory=list)
    continues: list[ReachingState] = field(default_factory=list)


class ExpressionAnalysis:
    """The analysis of expressions; ``state`` is the state at the current point."""

    def __init__(
        self, binding_nodes: dict[str, list[ast.AST]], constant_tests: Mapping[ast.expr, bool]
    ) -> None:
        self.binding_nodes, self.constant_tests = binding_nodes, constant_tests
        self.reads: dict[ast.Name, set[Definition]] = {}
        self.dead_reads: dict[ast.Name, set[Definition]] = {}  # in unreachable code
        # in nested functions: any definition may reach them
        self.closure_reads: list[ast.Name] = []
        self.single_variable_names: set[str] = set()  # names whose definitions share one variable
        self.state = ReachingState(dict.fromkeys(binding_nodes, UNASSIGNED))
        self.loops: list[Jumps] = []
        # the last state at the head of each loop: an inner loop is analyzed again from there
        self.loop_heads: dict[ast.AST, ReachingState] = {}
        self.comprehension_names: frozenset[str] = frozenset()  # bound by a comprehension

    def is_local(self, name: str) -> bool:
        return name in self.binding_nodes and name not in self.comprehension_names

    def define(self, node: ast.AST, name: str | None) -> None:
        if name is not None and self.is_local(name):
            self.state = self.state.with_definition(name, node)

    def read(self, node: ast.Name) -> None:
        if self.is_local(node.id):
            reads = self.reads if self.state.is_reachable else self.dead_reads
            reads.setdefault(node, set()).update(self.state.sets[node.id])

    def defer(self, node: ast.AST) -> None:
        """Handle a nested function, which runs later: any definition may reach its reads."""
        reads = [name for name in free_names(node) if self.is_local(name.id)]
        self.closure_reads += reads
        self.single_variable_names.update(name.id for name in reads)

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
                self.state = join(*self.branch(node))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                then, otherwise = self.branch(test)
                self.state = then
                self.expression(body)
                then, self.state = self.state, otherwise
                self.expression(orelse)
                self.state = join(then, self.state)
            case ast.Lambda():
                for default in defaults(node):
                    self.expression(default)
                self.defer(node)
            case ast.ListComp():
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
                if value:
                    return (self.state, self.state.as_unreachable())
                return (self.state.as_unreachable(), self.state)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                if_true, if_false = self.branch(operand)
                return if_false, if_true
            case ast.BoolOp(op=ast.And(), values=values):
                exits = []
                for value in values:
                    self.state, if_false = self.branch(value)
                    exits.append(if_false)
                return self.state, join(*exits)
            case ast.BoolOp(values=values):
                exits = []
                for value in values:
                    if_true, self.state = self.branch(value)
                    exits.append(if_true)
                return join(*exits), self.state
            case ast.Compare(left=left, comparators=[first, *comparators]):
                self.expression(left)
                self.expression(first)
                exits = [self.state]
                for comparator in comparators:
                    self.expression(comparator)
                    exits.append(self.state)
                return self.state, join(*exits)
            case ast.NamedExpr(target=target, value=value):
                if_true, self.state = self.branch(value)
                self.expression(target)
                if_false, self.state = self.state, if_true
                self.expression(target)
                return self.state, if_false
            case _:
                self.expression(test)
                return self.state, self.state

    def comprehension(self, node: Comprehension) -> None:
        """Handle a comprehension: a loop in which a walrus binds names of the function."""
        self.expression(node.generators[0].iter)
        outer_names = self.comprehension_names
        self.comprehension_names |= comprehension_targets(node)
        head = self.state
        while (new_head := join(head, self.comprehension_iteration(node, head))) != head:
            head = new_head
        self.state, self.comprehension_names = head, outer_names

    def comprehension_iteration(self, node: Comprehension, head: ReachingState) -> ReachingState:
        self.state = head
        exits: list[ReachingState] = []
        for position, generator in enumerate(node.generators):
            if position:
                self.expression(generator.iter)
            for condition in generator.ifs:
                self.state, if_false = self.branch(condition)
                exits.append(if_false)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.comprehension):
                self.expression(child)
        return join(self.state, *exits)


def reaching_definitions(
    function: ast.FunctionDef, constant_tests: Mapping[ast.expr, bool] | None = None
) -> ReachingDefinitions:
    """Analyze a function; the results are attributes of the analysis.

    They are ``reads``, ``dead_reads``, ``closure_reads`` and ``single_variable_names``. A ``for``
    over a constant non-empty ``range`` runs at least once. constant_tests: of ``if`` statements,
    one of whose branches never runs.
    """
    analysis = ReachingDefinitions(bindings(function), constant_tests or {})
    for parameter in parameters(function.args):
        analysis.define(parameter, parameter.arg)
    analysis.block(function.body)
    return analysis


class ReachingDefinitions(ExpressionAnalysis):
    """The analysis of statements; ``state`` is the state at the current point."""

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
                self.augmented_assignment(node)
            case ast.AnnAssign():
                self.annotated_assignment(node)
            case ast.If(test=test, body=body, orelse=orelse):
                then, otherwise = self.branch(test)
                is_true = self.constant_tests.get(test)
                self.state = then.as_unreachable() if is_true is False else then
                otherwise = otherwise.as_unreachable() if is_true else otherwise
                self.block(body)
                then, self.state = self.state, otherwise
                self.block(orelse)
                self.state = join(then, self.state)
            case ast.While() | ast.For():
                self.loop(node)
            case UnrolledLoop():
                self.unrolled_loop(node)
            case ast.Break() | ast.Continue():
                if self.loops:
                    jumps = self.loops[-1]
                    states = jumps.breaks if isinstance(node, ast.Break) else jumps.continues
                    states.append(self.state)
                self.state = self.state.as_unreachable()
            case ast.Return() | ast.Raise():
                self.children(node)
                self.state = self.state.as_unreachable()
            case ast.Assert(test=test, msg=message):  # an assertion may not be evaluated
                before = self.state
                self.expression(test)
                after = self.state
                if message is not None:
                    self.expression(message)
                self.state = join(before, after)
            case ast.Match():
                self.match_statement(node)
            case ast.FunctionDef():
                for default in defaults(node):
                    self.expression(default)
                self.defer(node)
                self.define(node, node.name)
            case _:  # Expr, Delete, Pass
                self.children(node)

    def augmented_assignment(self, node: ast.AugAssign) -> None:
        """Handle ``x += …``, which reads and then writes one variable."""
        if isinstance(node.target, ast.Name):
            self.read(node.target)
            self.expression(node.value)
            self.define(node.target, node.target.id)
        else:
            self.children(node)

    def annotated_assignment(self, node: ast.AnnAssign) -> None:
        """Handle ``x: T``: all bindings of a declared ``x`` are one variable."""
        if node.value is not None:
            self.expression(node.value)
            self.expression(node.target)
        if isinstance(node.target, ast.Name):
            self.single_variable_names.add(node.target.id)

    def loop(self, node: ast.While | ast.For) -> None:
        if isinstance(node, ast.For):
            self.expression(node.iter)
        head = join(self.state, self.loop_heads.get(node, self.state))
        while True:
            self.state = exit_state = head
            if isinstance(node, ast.While):
                entry, exit_state = self.branch(node.test)
            else:
                self.expression(node.target)
                entry = self.state
            body_end, breaks = self.loop_body(node.body, entry)
            if (new_head := join(head, body_end)) == head:
                break
            head = new_head
        self.loop_heads[node] = head
        has_range = "range" not in self.binding_nodes  # the builtin
        if isinstance(node, ast.For) and has_range and _runs_at_least_once(node.iter):
            exit_state = body_end
        self.state = exit_state
        self.block(node.orelse)
        self.state = join(self.state, *breaks)

    def unrolled_loop(self, node: UnrolledLoop) -> None:
        """Handle an unrolled loop: its iterations follow each other."""
        self.expression(node.iter)
        all_breaks: list[ReachingState] = []
        for iteration in node.iterations:
            before = self.state
            self.expression(iteration.target)
            self.state, breaks = self.loop_body(iteration.body, self.state)
            all_breaks += breaks
            if node.may_be_skipped:
                self.state = join(before, self.state)
        self.block(node.orelse)
        self.state = join(self.state, *all_breaks)

    def loop_body(
        self, body: list[ast.stmt], entry: ReachingState
    ) -> tuple[ReachingState, list[ReachingState]]:
        """Return the state at the end of an iteration, and the states at its breaks."""
        self.loops.append(Jumps())
        self.state = entry
        self.block(body)
        jumps = self.loops.pop()
        return join(self.state, *jumps.continues), jumps.breaks

    def match_statement(self, node: ast.Match) -> None:
        self.expression(node.subject)
        ends: list[ReachingState] = []
        for case in node.cases:
            before = self.state
            self.pattern(case.pattern)
            matched = self.state
            entry, if_false = (
                (matched, matched.as_unreachable())
                if case.guard is None
                else self.branch(case.guard)
            )
            self.state = entry
            self.block(case.body)
            ends.append(self.state)
            is_irrefutable = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            # names are bound when the pattern has matched
            self.state = if_false if is_irrefutable else join(before, if_false)
        self.state = join(*ends, self.state)

    def pattern(self, node: ast.pattern) -> None:
        if isinstance(node, ast.MatchOr):  # one alternative binds the names
            before, ends = self.state, []
            for alternative in node.patterns:
                self.state = before
                self.pattern(alternative)
                ends.append(self.state)
            self.state = join(*ends)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.pattern):
                self.pattern(child)
            else:
                self.expression(child)
        self.define(node, bound_name(node))


def _runs_at_least_once(iterable: ast.expr) -> bool:
    """Return whether an iterable is a ``range`` of constant bounds that is not empty."""
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
            try:
                return len(range(*map(ast.literal_eval, arguments))) > 0
            except (ValueError, TypeError, OverflowError):  # not constants, or not a range
                return False
    return False
