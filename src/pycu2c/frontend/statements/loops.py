"""Loops: ``while``, ``for``, their ``else``, and loops over tuples, which are written out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT
from pycu2c.frontend.evaluation_order import has_effect, kept, with_inside
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import Chosen, Closure, Frame, Items, Static, Unknown, Value
from pycu2c.frontend.scope import constant_bindings
from pycu2c.frontend.scope.bindings import changed_name
from pycu2c.frontend.statements import iterables, jumps
from pycu2c.frontend.statements.assignments import assign_to
from pycu2c.frontend.statements.unroll import Count, Rounds
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

Walk: TypeAlias = Callable[[Frame, list[ast.stmt]], Body]  # a block of statements -> its IR

_MOST_ROUNDS = 1024


def while_loop(frame: Frame, node: ast.While, walk: Walk) -> None:
    """``while test: …``; where the test needs statements, they begin the body."""
    span = frame.span(node)
    with frame.block() as written:
        test = condition(frame, node.test)
    if isinstance(test, Const) and not test.value:
        frame.emit_all(written)
        frame.emit_all(walk(frame, node.orelse))
        return
    body = walk(frame, node.body)
    if isinstance(test, Const) and not jumps.breaks(body):
        frame.emit(While(test, (*written, *body), span))
        return

    def loop(body: Body) -> Stmt:
        if not written:
            return While(test, body, span)
        leave = If(negation(test), (Break(span),), (), span)
        return While(Const(True, WEAK_BOOL, span), (*written, leave, *body), span)

    _with_else(frame, node, loop, body, walk)


def for_loop(frame: Frame, node: ast.For, walk: Walk) -> None:
    """``for target in iterable: …``."""
    found = iterables.iterable(frame, node.iter)
    if isinstance(found, iterables.Listed):
        if len(found.values) > _MOST_ROUNDS:
            fail(
                "constant-needed",
                Label(frame.span(node.iter), f"{len(found.values)} items"),
                help="a loop over a tuple is written out: put so many items into an array",
            )
        frame.copies.wanted[node] = Count(len(found.values), found.limit is not None)
        raise Unknown  # the next walk has the rounds
    _counted(frame, node, found, walk)


def _with_else(
    frame: Frame,
    node: ast.For | ast.While,
    loop: Callable[[Body], Stmt],
    body: Body,
    walk: Walk,
) -> None:
    """A loop, and the ``else`` that runs if no ``break`` did."""
    span = frame.span(node)
    if node.orelse and jumps.breaks(body):
        broke = Flag(frame, span)
        frame.emit(broke.down())
        frame.emit(loop(jumps.replaced(body, Break, broke.up_and)))
        frame.emit(If(negation(broke.var), walk(frame, node.orelse), (), span))
        return
    frame.emit(loop(body))
    frame.emit_all(walk(frame, node.orelse))


class Flag:
    """A variable that tells whether a loop was left with ``break``."""

    def __init__(self, frame: Frame, span: Span) -> None:
        self.var = Var(frame.fresh("broke"), WEAK_BOOL, span)
        self.is_used = False

    def down(self) -> Stmt:
        return Assign(self.var, Const(False, WEAK_BOOL, self.var.span), self.var.span)

    def up_and(self, leave: Stmt) -> Body:
        self.is_used = True
        return Assign(self.var, Const(True, WEAK_BOOL, leave.span), leave.span), Break(leave.span)


# ---- loops that count --------------------------------------------------------------------------


def _counted(frame: Frame, node: ast.For, over: iterables.Counted, walk: Walk) -> None:
    span = frame.span(node.target)
    unnamed = Var(frame.fresh("i"), WEAK_INT, span)
    target = _target_of(node.target, over.value(unnamed), unnamed)
    counter = unnamed if target is None else _named_counter(frame, target, unnamed)
    with frame.block() as given:
        _give(frame, node.target, over.value(counter), counter)
    body = walk(frame, node.body)

    def loop(body: Body) -> Stmt:
        inside = (*given, *body)
        return For(counter, over.start, over.stop, over.step, inside, frame.span(node))

    _with_else(frame, node, loop, body, walk)


def _target_of(target: ast.expr, value: Value, counter: Var) -> ast.Name | None:
    """The name that is given the counter itself."""
    if isinstance(target, ast.Name):
        return target if value is counter else None
    for inner, item in constant_bindings.plain_pairs(target, value) or ():
        found = _target_of(inner, item, counter)
        if found is not None:
            return found
    return None


def _named_counter(frame: Frame, target: ast.Name, otherwise: Var) -> Var:
    """The target's variable, unless it is a float elsewhere."""
    name, span = frame.ranges.names.get(id(target)), frame.span(target)
    if name is None:
        raise Unknown
    if name in frame.bound or frame.assigned(name, WEAK_INT, span) != WEAK_INT:
        return otherwise
    return Var(name, WEAK_INT, span)


def _give(frame: Frame, target: ast.expr, value: Value, counter: Var) -> None:
    """``target = value`` at the head of a round; the loop sets its counter itself."""
    if isinstance(target, ast.Name) and value is counter:
        name = frame.ranges.names[id(target)]
        if name == counter.name:
            frame.note_store(target, name)
            return
    pairs = constant_bindings.plain_pairs(target, value)
    if pairs is None:
        assign_to(frame, target, value)
        return
    for inner, item in pairs:
        _give(frame, inner, item, counter)


# ---- loops that are written out ----------------------------------------------------------------


def rounds(frame: Frame, node: Rounds, walk: Walk) -> None:
    """A loop over a tuple: one round after the other."""
    found = iterables.iterable(frame, node.iter)
    assert isinstance(found, iterables.Listed)
    effects = _effects(node)
    values = list(found.values)
    if found.limit is None:
        values = [_fixed(frame, value, effects) for value in values]
    bodies: list[Body] = []
    for position, (written, value) in enumerate(zip(node.rounds, values, strict=True)):
        with frame.block() as given, frame.recovering():
            constant_bindings.give(frame, written.target, value)
        body = (*given, *walk(frame, written.body))
        if found.limit is not None:
            test = binary(GT, found.limit, integer(position, value.span), value.span)
            body = (If(test, body, (), frame.span(node)),)
        bodies.append(body)
        if _is_last(body):
            break
    _joined(frame, bodies, node, walk)


@dataclass(frozen=True, slots=True)
class _Effects:
    """What the rounds of a loop may change."""

    names: frozenset[str]
    memory: bool

    def reach(self, e: Expr) -> bool:
        if isinstance(e, Var):  # by Python's names: live ranges may become one variable again
            return e.name.split(".", 1)[0] in self.names
        return has_effect(e) or (self.memory and isinstance(e, Load))


def _effects(node: Rounds) -> _Effects:
    inner = [n for written in node.rounds[:1] for n in ast.walk(written)]
    places = [n for n in inner if isinstance(n, (ast.Subscript, ast.Attribute))]
    stores = any(isinstance(n.ctx, ast.Store) for n in places)
    calls = any(isinstance(n, ast.Call) for n in inner)
    names = frozenset(name for n in inner if (name := changed_name(n)))
    return _Effects(names, stores or calls)


def _fixed(frame: Frame, value: Value, effects: _Effects) -> Value:
    """An item as it is before the first round."""
    match value:
        case Items():
            items = tuple(_fixed(frame, item, effects) for item in value.items)
            return Items(items, value.span, value.names)
        case Closure() | Chosen():
            return with_inside(value, _fixed(frame, value.inside, effects))
        case Static():
            return value
        case _:
            touched = any(effects.reach(e) for e in expressions(value))
            return kept(frame, value, "item") if touched else value


def _joined(frame: Frame, bodies: list[Body], node: Rounds, walk: Walk) -> None:
    """The rounds, and the ``else``. A ``break`` leaves a loop that runs once."""
    span = frame.span(node)
    otherwise: Body = ()
    if not bodies or not _is_last(bodies[-1]):
        otherwise = walk(frame, node.orelse)
    if _ends_with_break(bodies):
        bodies[-1] = bodies[-1][:-1]
    if not any(jumps.breaks(body) for body in bodies):
        for body in bodies:
            frame.emit_all(_straight(body, span))
        frame.emit_all(otherwise)
        return
    broke = Flag(frame, span)
    apart = jumps.breaks(otherwise) or jumps.continues(otherwise)  # they are of a loop further out
    inside: list[Stmt] = []
    for body in bodies:
        in_two = jumps.breaks(body) and jumps.without_continues(body) is None
        told = jumps.replaced(body, Break, broke.up_and) if apart or in_two else body
        inside += _straight(told, span)
        if in_two:
            inside.append(If(broke.var, (Break(span),), (), span))
    inside += () if apart else otherwise
    if broke.is_used:
        frame.emit(broke.down())
    if not jumps.jumps_away(tuple(inside)):
        inside.append(Break(span))
    frame.emit(While(Const(True, WEAK_BOOL, span), tuple(inside), span))
    if apart:
        frame.emit(If(negation(broke.var), otherwise, (), span))


def _is_last(body: Body) -> bool:
    """Whether nothing comes after a round: no other one, and no ``else``."""
    return jumps.jumps_away(body) and not jumps.continues(body)


def _ends_with_break(bodies: list[Body]) -> bool:
    """Whether the only ``break`` is the end of the last round."""
    if not bodies or not bodies[-1] or not isinstance(bodies[-1][-1], Break):
        return False
    return not any(jumps.breaks(b) for b in (*bodies[:-1], bodies[-1][:-1]))


def _straight(body: Body, span: Span) -> Body:
    """A round without ``continue``, as a loop that runs once if need be."""
    plain = jumps.without_continues(body)
    if plain is not None:
        return plain
    once = jumps.replaced(body, Continue, lambda jump: (Break(jump.span),))
    return (While(Const(True, WEAK_BOOL, span), (*once, Break(span)), span),)
