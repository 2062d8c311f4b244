"""The only generic recursion over the IR: what a node contains, and rebuilding it bottom-up.

Passes that treat a few nodes and leave the rest alone are written with these; whatever needs
to know all nodes uses ``match`` and ``assert_never``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

from pycu2c.base.records import replace
from pycu2c.ir.expressions import Path
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    AxisLoop,
    Binary,
    BlockLoop,
    Body,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    CText,
    Declare,
    Dim,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Item,
    Let,
    Load,
    Logical,
    Member,
    Module,
    NextThread,
    Pack,
    Print,
    Return,
    Select,
    Stmt,
    Store,
    Stride,
    Strips,
    ThreadLoop,
    ThreadSteps,
    Unary,
    Var,
    View,
    Wait,
    While,
)


def children(e: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one, in order of evaluation; an array's Var included."""
    match e:
        case Const() | Var():
            return ()
        case Unary() | Cast() | Member():
            return (e.operand,)
        case Binary() | Logical():
            return (e.left, e.right)
        case Select():
            return (e.condition, e.then, e.orelse)
        case Item():
            return (e.operand, e.index)
        case Load():
            return (e.array, *e.indices)
        case ElementOf():
            return (e.array, *e.indices, *inside(e.path))
        case Pack():
            return e.parts
        case View():
            return (e.array, *e.first, *e.steps, *e.lengths, *inside(e.path))
        case Dim() | Stride():
            return (e.array,)
        case Let():
            return (e.value, e.body)
        case Apply() | Call():
            return e.arguments
        case _:
            assert_never(e)


def with_children(e: Expr, new: tuple[Expr, ...]) -> Expr:
    """The same node around other expressions, as many as ``children`` gave."""
    match e:
        case Const() | Var():
            return e
        case Unary() | Cast() | Member():
            return replace(e, operand=new[0])
        case Binary() | Logical():
            return replace(e, left=new[0], right=new[1])
        case Select():
            return replace(e, condition=new[0], then=new[1], orelse=new[2])
        case Item():
            return replace(e, operand=new[0], index=new[1])
        case Load():
            return replace(e, array=_array(new[0]), indices=new[1:])
        case ElementOf():
            end = 1 + len(e.indices)
            given, path = new[1:end], path_with(e.path, new[end:])
            return replace(e, array=_array(new[0]), indices=given, path=path)
        case Pack():
            return replace(e, parts=new)
        case View():
            first, rest = new[1 : 1 + len(e.first)], new[1 + len(e.first) :]
            count = len(e.axes)
            steps, lengths, own = rest[:count], rest[count : 2 * count], rest[2 * count :]
            made = replace(e, array=_array(new[0]), first=first, path=path_with(e.path, own))
            return replace(made, steps=steps, lengths=lengths)
        case Dim() | Stride():
            return replace(e, array=_array(new[0]))
        case Let():
            return replace(e, value=new[0], body=new[1])
        case Apply() | Call():
            return replace(e, arguments=new)
        case _:
            assert_never(e)


def inside(path: Path) -> tuple[Expr, ...]:
    """The indices in the path to a part of a record."""
    return tuple(step for step in path if not isinstance(step, str))


def path_with(path: Path, new: Sequence[Expr]) -> Path:
    """The same path with other indices."""
    given = iter(new)
    return tuple(step if isinstance(step, str) else next(given) for step in path)


def _array(e: Expr) -> Var:
    assert isinstance(e, Var), "an array is named by a variable"
    return e


def expressions(e: Expr) -> Iterator[Expr]:
    """An expression and all inside it, outermost first."""
    yield e
    for child in children(e):
        yield from expressions(child)


def operands(s: Stmt) -> tuple[Expr, ...]:
    """The expressions directly in a statement, in order of evaluation; targets left out."""
    match s:
        case Assign() | Evaluate():
            return (s.value,)
        case Print():
            return s.values
        case Store():
            return (s.value, *s.indices, *inside(s.path))
        case Declare():
            return () if s.init is None else (s.init,)
        case Return():
            return () if s.value is None else (s.value,)
        case If() | While():
            return (s.condition,)
        case For() | AxisLoop():
            return (s.start, s.stop, s.step)
        case Wait():
            return (*(() if s.mask is None else (s.mask,)), *(gift.value for gift in s.gifts))
        case Allocate() | Break() | Continue() | NextThread():
            return ()
        case ThreadLoop() | Strips() | BlockLoop() | ThreadSteps():
            return ()
        case CText():
            return s.arguments
        case _:
            assert_never(s)


def with_operands(s: Stmt, new: tuple[Expr, ...]) -> Stmt:
    """The same statement around other expressions, as many as ``operands`` gave."""
    match s:
        case Assign() | Evaluate():
            return replace(s, value=new[0])
        case Print():
            return replace(s, values=new)
        case Store():
            end = 1 + len(s.indices)
            given, path = new[1:end], path_with(s.path, new[end:])
            return replace(s, value=new[0], indices=given, path=path)
        case Declare():
            return replace(s, init=new[0]) if new else s
        case Return():
            return replace(s, value=new[0]) if new else s
        case If() | While():
            return replace(s, condition=new[0])
        case For() | AxisLoop():
            return replace(s, start=new[0], stop=new[1], step=new[2])
        case Wait():
            mask, values = (None, new) if s.mask is None else (new[0], new[1:])
            gifts = tuple(replace(gift, value=value) for gift, value in zip(s.gifts, values))
            return replace(s, mask=mask, gifts=gifts)
        case Allocate() | Break() | Continue() | NextThread():
            return s
        case ThreadLoop() | Strips() | BlockLoop() | ThreadSteps():
            return s
        case CText():
            return replace(s, arguments=new)
        case _:
            assert_never(s)


def bodies(s: Stmt) -> tuple[Body, ...]:
    """The blocks directly inside a statement."""
    match s:
        case If():
            return (s.then, s.orelse)
        case While() | For() | ThreadLoop() | Strips() | AxisLoop() | BlockLoop() | ThreadSteps():
            return (s.body,)
        case _:
            return ()


def with_bodies(s: Stmt, new: tuple[Body, ...]) -> Stmt:
    """The same statement around other blocks, as many as ``bodies`` gave."""
    match s:
        case If():
            return replace(s, then=new[0], orelse=new[1])
        case While() | For() | ThreadLoop() | Strips() | AxisLoop() | BlockLoop() | ThreadSteps():
            return replace(s, body=new[0])
        case _:
            return s


def statements(body: Body) -> Iterator[Stmt]:
    """All statements of a block and of the blocks inside it, in order of the text."""
    for s in body:
        yield s
        for inner in bodies(s):
            yield from statements(inner)


def all_expressions(body: Body) -> Iterator[Expr]:
    """All expressions of all statements of a block."""
    for s in statements(body):
        for e in operands(s):
            yield from expressions(e)


def rewrite(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Rebuild an expression bottom-up: ``change`` sees nodes whose children are done."""
    old = children(e)
    new = tuple(rewrite(child, change) for child in old)
    return change(e if new == old else with_children(e, new))


def map_expr(body: Body, change: Callable[[Expr], Expr]) -> Body:
    """Rewrite every expression of a block bottom-up."""
    return tuple(_map_stmt_expr(s, change) for s in body)


def _map_stmt_expr(s: Stmt, change: Callable[[Expr], Expr]) -> Stmt:
    s = with_operands(s, tuple(rewrite(e, change) for e in operands(s)))
    return with_bodies(s, tuple(map_expr(b, change) for b in bodies(s)))


def map_stmt(body: Body, change: Callable[[Stmt], Body]) -> Body:
    """Replace each statement by a block, inner statements first."""
    out: list[Stmt] = []
    for s in body:
        out += change(with_bodies(s, tuple(map_stmt(b, change) for b in bodies(s))))
    return tuple(out)


def map_functions(module: Module, change: Callable[[Function], Function]) -> Module:
    """Apply a change to every function of a module."""
    devices = tuple(change(f) for f in module.devices)
    return replace(module, kernel=change(module.kernel), devices=devices)
