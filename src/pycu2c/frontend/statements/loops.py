"""Loops: ``while``, ``for``, their ``else``, and unrolled loops over tuples."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT
from pycu2c.frontend.evaluation_order import has_effect, materialize, with_operands
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import (
    ArraySelect,
    Closure,
    FunctionContext,
    StaticObject,
    TupleValue,
    UnknownType,
    Value,
)
from pycu2c.frontend.scope import constant_bindings
from pycu2c.frontend.scope.bindings import changed_name
from pycu2c.frontend.statements import iterables, jumps
from pycu2c.frontend.statements.assignments import assign_to
from pycu2c.frontend.statements.unroll import TripCount, UnrolledLoop
from pycu2c.ir.builders import binary, integer, negation
from pycu2c.ir.nodes import (
    Assign,
    Body,
    Break,
    Const,
    Continue,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import expressions
from pycu2c.ops.operators import GT

LowerBlock: TypeAlias = Callable[
    [FunctionContext, list[ast.stmt]], Body
]  # lowers a block of statements

_MAX_ITERATIONS = 1024


def while_loop(context: FunctionContext, node: ast.While, walk: LowerBlock) -> None:
    """Lower ``while test: …``; statements that the test needs start the body."""
    span = context.span(node)
    with context.block() as written:
        test = condition(context, node.test)
    if isinstance(test, Const) and not test.value:
        context.emit_all(written)
        context.emit_all(walk(context, node.orelse))
        return
    body = walk(context, node.body)
    if isinstance(test, Const) and not jumps.has_break(body):
        context.emit(While(test, (*written, *body), span))
        return

    def loop(body: Body) -> Stmt:
        if not written:
            return While(test, body, span)
        leave = If(negation(test), (Break(span),), (), span)
        return While(Const(True, WEAK_BOOL, span), (*written, leave, *body), span)

    _with_else(context, node, loop, body, walk)


def for_loop(context: FunctionContext, node: ast.For, walk: LowerBlock) -> None:
    """Lower ``for target in iterable: …``."""
    found = iterables.iterable(context, node.iter)
    if isinstance(found, iterables.ListedIterable):
        if len(found.values) > _MAX_ITERATIONS:
            fail(
                "constant-needed",
                Label(context.span(node.iter), f"{len(found.values)} items"),
                hint="a loop over a tuple is unrolled: put so many items into an array",
            )
        context.unroller.pending[node] = TripCount(len(found.values), found.limit is not None)
        raise UnknownType  # the next pass has the unrolled loop
    _counted(context, node, found, walk)


def _with_else(
    context: FunctionContext,
    node: ast.For | ast.While,
    loop: Callable[[Body], Stmt],
    body: Body,
    walk: LowerBlock,
) -> None:
    """Emit a loop, and the ``else`` that runs without a ``break``."""
    span = context.span(node)
    if node.orelse and jumps.has_break(body):
        broke = BreakFlag(context, span)
        context.emit(broke.clear())
        context.emit(loop(jumps.replace_jumps(body, Break, broke.set_and_break)))
        context.emit(If(negation(broke.var), walk(context, node.orelse), (), span))
        return
    context.emit(loop(body))
    context.emit_all(walk(context, node.orelse))


class BreakFlag:
    """A variable that records whether a loop was left with ``break``."""

    def __init__(self, context: FunctionContext, span: Span) -> None:
        self.var = Var(context.fresh("broke"), WEAK_BOOL, span)
        self.is_used = False

    def clear(self) -> Stmt:
        return Assign(self.var, Const(False, WEAK_BOOL, self.var.span), self.var.span)

    def set_and_break(self, leave: Stmt) -> Body:
        self.is_used = True
        return Assign(self.var, Const(True, WEAK_BOOL, leave.span), leave.span), Break(leave.span)


# ---- loops that count --------------------------------------------------------------------------


def _counted(
    context: FunctionContext, node: ast.For, over: iterables.CountedIterable, walk: LowerBlock
) -> None:
    span = context.span(node.target)
    unnamed = Var(context.fresh("i"), WEAK_INT, span)
    target = _target_of(node.target, over.value(unnamed), unnamed)
    counter = unnamed if target is None else _named_counter(context, target, unnamed)
    with context.block() as given:
        _assign_target(context, node.target, over.value(counter), counter)
    body = walk(context, node.body)

    def loop(body: Body) -> Stmt:
        inside = (*given, *body)
        return For(counter, over.start, over.stop, over.step, inside, context.span(node))

    _with_else(context, node, loop, body, walk)


def _target_of(target: ast.expr, value: Value, counter: Var) -> ast.Name | None:
    """Return the name that is assigned the counter itself."""
    if isinstance(target, ast.Name):
        return target if value is counter else None
    for inner, item in constant_bindings.matching_pairs(target, value) or ():
        found = _target_of(inner, item, counter)
        if found is not None:
            return found
    return None


def _named_counter(context: FunctionContext, target: ast.Name, otherwise: Var) -> Var:
    """Return the target's variable as the counter, unless it has another type elsewhere."""
    name, span = context.ranges.names.get(id(target)), context.span(target)
    if name is None:
        raise UnknownType
    if name in context.bound or context.assigned(name, WEAK_INT, span) != WEAK_INT:
        return otherwise
    return Var(name, WEAK_INT, span)


def _assign_target(context: FunctionContext, target: ast.expr, value: Value, counter: Var) -> None:
    """Lower ``target = value`` at the start of an iteration; the loop sets its counter itself."""
    if isinstance(target, ast.Name) and value is counter:
        name = context.ranges.names[id(target)]
        if name == counter.name:
            context.record_store(target, name)
            return
    pairs = constant_bindings.matching_pairs(target, value)
    if pairs is None:
        assign_to(context, target, value)
        return
    for inner, item in pairs:
        _assign_target(context, inner, item, counter)


# ---- unrolled loops ----------------------------------------------------------------------------


def unrolled_loop(context: FunctionContext, node: UnrolledLoop, walk: LowerBlock) -> None:
    """Lower a loop over a tuple, iteration by iteration."""
    found = iterables.iterable(context, node.iter)
    assert isinstance(found, iterables.ListedIterable)
    effects = _effects(node)
    values = list(found.values)
    if found.limit is None:
        values = [_fixed(context, value, effects) for value in values]
    bodies: list[Body] = []
    for position, (written, value) in enumerate(zip(node.iterations, values, strict=True)):
        with context.block() as given, context.collecting_errors():
            constant_bindings.assign_constants(context, written.target, value)
        body = (*given, *walk(context, written.body))
        if found.limit is not None:
            test = binary(GT, found.limit, integer(position, value.span), value.span)
            body = (If(test, body, (), context.span(node)),)
        bodies.append(body)
        if _is_last(body):
            break
    _emit_iterations(context, bodies, node, walk)


@dataclass(frozen=True, slots=True)
class _Effects:
    """What the iterations of a loop may change."""

    names: frozenset[str]
    memory: bool

    def may_change(self, e: Expr) -> bool:
        if isinstance(e, Var):  # compare Python names, because live ranges may be merged again
            return e.name.split(".", 1)[0] in self.names
        return has_effect(e) or (self.memory and isinstance(e, Load))


def _effects(node: UnrolledLoop) -> _Effects:
    inner = [n for iteration in node.iterations[:1] for n in ast.walk(iteration)]
    places = [n for n in inner if isinstance(n, (ast.Subscript, ast.Attribute))]
    stores = any(isinstance(n.ctx, ast.Store) for n in places)
    calls = any(isinstance(n, ast.Call) for n in inner)
    names = frozenset(name for n in inner if (name := changed_name(n)))
    return _Effects(names, stores or calls)


def _fixed(context: FunctionContext, value: Value, effects: _Effects) -> Value:
    """Evaluate an item before the first iteration if iterations may change it."""
    match value:
        case TupleValue():
            items = tuple(_fixed(context, item, effects) for item in value.items)
            return TupleValue(items, value.span, value.names)
        case Closure() | ArraySelect():
            return with_operands(value, _fixed(context, value.operands, effects))
        case StaticObject():
            return value
        case _:
            touched = any(effects.may_change(e) for e in expressions(value))
            return materialize(context, value, "item") if touched else value


def _emit_iterations(
    context: FunctionContext, bodies: list[Body], node: UnrolledLoop, walk: LowerBlock
) -> None:
    """Emit the iterations and the ``else``; if there is a ``break``, in a loop that runs once."""
    span = context.span(node)
    otherwise: Body = ()
    if not bodies or not _is_last(bodies[-1]):
        otherwise = walk(context, node.orelse)
    if _ends_with_break(bodies):
        bodies[-1] = bodies[-1][:-1]
    if not any(jumps.has_break(body) for body in bodies):
        for body in bodies:
            context.emit_all(_without_continues(body, span))
        context.emit_all(otherwise)
        return
    broke = BreakFlag(context, span)
    apart = jumps.has_break(otherwise) or jumps.has_continue(otherwise)  # jumps of an outer loop
    inside: list[Stmt] = []
    for body in bodies:
        in_two = jumps.has_break(body) and jumps.without_continues(body) is None
        flagged = jumps.replace_jumps(body, Break, broke.set_and_break) if apart or in_two else body
        inside += _without_continues(flagged, span)
        if in_two:
            inside.append(If(broke.var, (Break(span),), (), span))
    inside += () if apart else otherwise
    if broke.is_used:
        context.emit(broke.clear())
    if not jumps.never_falls_through(tuple(inside)):
        inside.append(Break(span))
    context.emit(While(Const(True, WEAK_BOOL, span), tuple(inside), span))
    if apart:
        context.emit(If(negation(broke.var), otherwise, (), span))


def _is_last(body: Body) -> bool:
    """Return whether an iteration ends the loop without its ``else``."""
    return jumps.never_falls_through(body) and not jumps.has_continue(body)


def _ends_with_break(bodies: list[Body]) -> bool:
    """Return whether the only ``break`` ends the last iteration."""
    if not bodies or not bodies[-1] or not isinstance(bodies[-1][-1], Break):
        return False
    return not any(jumps.has_break(b) for b in (*bodies[:-1], bodies[-1][:-1]))


def _without_continues(body: Body, span: Span) -> Body:
    """Return an iteration without ``continue``, in a loop that runs once if necessary."""
    plain = jumps.without_continues(body)
    if plain is not None:
        return plain
    once = jumps.replace_jumps(body, Continue, lambda jump: (Break(jump.span),))
    return (While(Const(True, WEAK_BOOL, span), (*once, Break(span)), span),)
