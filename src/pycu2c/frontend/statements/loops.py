"""Loops: ``while``, ``for``, their ``else``, and unrolled loops over tuples."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT
from pycu2c.frontend.evaluation_order import Changes
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import FunctionContext, UnknownType
from pycu2c.frontend.scope import constant_bindings
from pycu2c.frontend.scope.bindings import changed_name
from pycu2c.frontend.statements import iterables, jumps
from pycu2c.frontend.statements.assignments import assign_to
from pycu2c.frontend.statements.unroll import TripCount, UnrolledLoop
from pycu2c.frontend.values import Value
from pycu2c.ir.builders import binary, integer, negation
from pycu2c.ir.nodes import (
    Assign,
    Body,
    Break,
    Const,
    Continue,
    For,
    If,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import has_jump, never_completes
from pycu2c.ops.operators import GT

_MAX_UNROLLED_ITERATIONS = 1024


def while_loop(context: FunctionContext, node: ast.While) -> None:
    """Lower ``while test: …``; the body starts with the statements that compute the test."""
    span = context.span(node)
    with context.block() as prefix:
        test = condition(context, node.test)
    if isinstance(test, Const) and not test.value:
        context.emit_all(prefix)
        context.emit_all(context.lower(node.orelse))
        return
    body = context.lower(node.body)
    if isinstance(test, Const) and not has_jump(body, Break):
        context.emit(While(test, (*prefix, *body), span))
        return

    def loop(body: Body) -> Stmt:
        if not prefix:
            return While(test, body, span)
        exit_test = If(negation(test), (Break(span),), (), span)
        return While(Const(True, WEAK_BOOL, span), (*prefix, exit_test, *body), span)

    _with_else(context, node, loop, body)


def for_loop(context: FunctionContext, node: ast.For) -> None:
    """Lower ``for target in iterable: …``."""
    iterable = iterables.iterable(context, node.iter)
    if isinstance(iterable, iterables.ListedIterable):
        if len(iterable.values) > _MAX_UNROLLED_ITERATIONS:
            fail(
                "constant-needed",
                Label(context.span(node.iter), f"{len(iterable.values)} items"),
                hint="a loop over a tuple is unrolled: put many items into an array",
            )
        has_limit = iterable.limit is not None
        context.unroller.pending[node] = TripCount(len(iterable.values), has_limit)
        raise UnknownType  # the next pass has the unrolled loop
    _counted_loop(context, node, iterable)


def _with_else(
    context: FunctionContext,
    node: ast.For | ast.While,
    loop: Callable[[Body], Stmt],
    body: Body,
) -> None:
    """Emit a loop, and the ``else`` that runs without a ``break``."""
    span = context.span(node)
    if node.orelse and has_jump(body, Break):
        break_flag = BreakFlag(context, span)
        context.emit(break_flag.clear())
        context.emit(loop(jumps.replace_jumps(body, Break, break_flag.set_and_break)))
        context.emit(If(negation(break_flag.var), context.lower(node.orelse), (), span))
        return
    context.emit(loop(body))
    context.emit_all(context.lower(node.orelse))


class BreakFlag:
    """A variable that records whether a loop was left with ``break``."""

    def __init__(self, context: FunctionContext, span: Span) -> None:
        self.var = Var(context.fresh("broke"), WEAK_BOOL, span)
        self.is_used = False

    def clear(self) -> Stmt:
        return Assign(self.var, Const(False, WEAK_BOOL, self.var.span), self.var.span)

    def set_and_break(self, jump: Stmt) -> Body:
        self.is_used = True
        return Assign(self.var, Const(True, WEAK_BOOL, jump.span), jump.span), Break(jump.span)


# ---- loops that count --------------------------------------------------------------------------


def _counted_loop(
    context: FunctionContext, node: ast.For, iterable: iterables.CountedIterable
) -> None:
    span = context.span(node.target)
    temporary = Var(context.fresh("i"), WEAK_INT, span)
    target = _counter_target(node.target, iterable.value(temporary), temporary)
    counter = temporary if target is None else _named_counter(context, target, temporary)
    with context.block() as assignments:
        _assign_target(context, node.target, iterable.value(counter), counter)
    body = context.lower(node.body)

    def loop(body: Body) -> Stmt:
        bounds = (iterable.start, iterable.stop, iterable.step)
        statements = (*assignments, *body)
        return For(counter, *bounds, statements, context.span(node), unroll=iterable.unroll)

    _with_else(context, node, loop, body)


def _counter_target(target: ast.expr, value: Value, counter: Var) -> ast.Name | None:
    """Return the name that is assigned the counter itself."""
    if isinstance(target, ast.Name):
        return target if value is counter else None
    for inner, item in constant_bindings.matching_pairs(target, value) or ():
        name = _counter_target(inner, item, counter)
        if name is not None:
            return name
    return None


def _named_counter(context: FunctionContext, target: ast.Name, temporary: Var) -> Var:
    """Return the target's variable as the counter, unless it has another type elsewhere."""
    name, span = context.variable_name(target), context.span(target)
    if name in context.bound_values or context.join_type(name, WEAK_INT, span) != WEAK_INT:
        return temporary
    return Var(name, WEAK_INT, span)


def _assign_target(context: FunctionContext, target: ast.expr, value: Value, counter: Var) -> None:
    """Lower ``target = value`` at the start of an iteration; the loop sets its counter itself."""
    if isinstance(target, ast.Name) and value is counter:
        name = context.ranges.names[id(target)]
        if name == counter.name:
            return
    pairs = constant_bindings.matching_pairs(target, value)
    if pairs is None:
        assign_to(context, target, value)
        return
    for inner, item in pairs:
        _assign_target(context, inner, item, counter)


# ---- unrolled loops ----------------------------------------------------------------------------


def unrolled_loop(context: FunctionContext, node: UnrolledLoop) -> None:
    """Lower a loop over a tuple, iteration by iteration."""
    iterable = iterables.iterable(context, node.iter)
    assert isinstance(iterable, iterables.ListedIterable)
    values = list(iterable.values)
    if iterable.limit is None:  # an item that iterations may change is evaluated before the first
        changes = _changes(node)
        values = [changes.materialized(context, value, "item") for value in values]
    bodies: list[Body] = []
    for position, (iteration, value) in enumerate(zip(node.iterations, values, strict=True)):
        with context.block() as assignments, context.collecting_errors():
            constant_bindings.assign_constants(context, iteration.target, value)
        body = (*assignments, *context.lower(iteration.body))
        if iterable.limit is not None:
            test = binary(GT, iterable.limit, integer(position, value.span), value.span)
            body = (If(test, body, (), context.span(node)),)
        bodies.append(body)
        if _ends_loop(body):
            break
    _emit_iterations(context, bodies, node)


def _changes(node: UnrolledLoop) -> Changes:
    """Return what the iterations of a loop may change."""
    nodes = [n for iteration in node.iterations[:1] for n in ast.walk(iteration)]
    elements = [n for n in nodes if isinstance(n, (ast.Subscript, ast.Attribute))]
    has_stores = any(isinstance(n.ctx, ast.Store) for n in elements)
    has_calls = any(isinstance(n, ast.Call) for n in nodes)
    names = frozenset(name for n in nodes if (name := changed_name(n)))
    return Changes(names, has_stores or has_calls)


def _emit_iterations(context: FunctionContext, bodies: list[Body], node: UnrolledLoop) -> None:
    """Emit the iterations and the ``else``; if there is a ``break``, in a loop that runs once."""
    span = context.span(node)
    orelse: Body = ()
    if not bodies or not _ends_loop(bodies[-1]):
        orelse = context.lower(node.orelse)
    if _ends_with_break(bodies):
        bodies[-1] = bodies[-1][:-1]
    if not any(has_jump(body, Break) for body in bodies):
        for body in bodies:
            context.emit_all(_without_continues(body, span))
        context.emit_all(orelse)
        return
    break_flag = BreakFlag(context, span)
    # jumps of an outer loop
    is_else_outside = has_jump(orelse, Break) or has_jump(orelse, Continue)
    iterations: list[Stmt] = []
    for body in bodies:
        needs_two_exits = has_jump(body, Break) and jumps.without_continues(body) is None
        body_with_flag = (
            jumps.replace_jumps(body, Break, break_flag.set_and_break)
            if is_else_outside or needs_two_exits
            else body
        )
        iterations += _without_continues(body_with_flag, span)
        if needs_two_exits:
            iterations.append(If(break_flag.var, (Break(span),), (), span))
    iterations += () if is_else_outside else orelse
    if break_flag.is_used:
        context.emit(break_flag.clear())
    if not never_completes(tuple(iterations)):
        iterations.append(Break(span))
    context.emit(While(Const(True, WEAK_BOOL, span), tuple(iterations), span))
    if is_else_outside:
        context.emit(If(negation(break_flag.var), orelse, (), span))


def _ends_loop(body: Body) -> bool:
    """Return whether an iteration ends the loop without its ``else``."""
    return never_completes(body) and not has_jump(body, Continue)


def _ends_with_break(bodies: list[Body]) -> bool:
    """Return whether the only ``break`` ends the last iteration."""
    if not bodies or not bodies[-1] or not isinstance(bodies[-1][-1], Break):
        return False
    return not any(has_jump(b, Break) for b in (*bodies[:-1], bodies[-1][:-1]))


def _without_continues(body: Body, span: Span) -> Body:
    """Return an iteration without ``continue``, in a loop that runs once if necessary."""
    result = jumps.without_continues(body)
    if result is not None:
        return result
    body_with_breaks = jumps.replace_jumps(body, Continue, lambda jump: (Break(jump.span),))
    return (While(Const(True, WEAK_BOOL, span), (*body_with_breaks, Break(span)), span),)
