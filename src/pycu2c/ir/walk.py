"""Generic traversal of the IR: the children of a node, and bottom-up rewriting.

Passes that handle only some node kinds use these functions. Code that must handle all kinds uses
``match`` and ``assert_never``.
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
    BarrierWait,
    Binary,
    BlockLoop,
    Body,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    CoroutineLoop,
    Declare,
    Dim,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    InlineC,
    Item,
    Let,
    Load,
    Logical,
    Member,
    Module,
    NextWorkItem,
    Pack,
    Print,
    Return,
    Select,
    Stmt,
    Store,
    Stride,
    StripLoop,
    Unary,
    Var,
    View,
    While,
    WorkItemLoop,
)


def children(e: Expr) -> tuple[Expr, ...]:
    """Return the direct subexpressions in order of evaluation, including the Var of an array."""
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
            return (e.array, *e.indices, *path_indices(e.path))
        case Pack():
            return e.parts
        case View():
            return (e.array, *e.first, *e.steps, *e.lengths, *path_indices(e.path))
        case Dim() | Stride():
            return (e.array,)
        case Let():
            return (e.value, e.body)
        case Apply() | Call():
            return e.arguments
        case _:
            assert_never(e)


def with_children(e: Expr, new: tuple[Expr, ...]) -> Expr:
    """Return the node with other subexpressions, as many as ``children`` returns."""
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
            indices, path = new[1:end], with_path_indices(e.path, new[end:])
            return replace(e, array=_array(new[0]), indices=indices, path=path)
        case Pack():
            return replace(e, parts=new)
        case View():
            first, rest = new[1 : 1 + len(e.first)], new[1 + len(e.first) :]
            count = len(e.axes)
            steps, lengths, own = rest[:count], rest[count : 2 * count], rest[2 * count :]
            made = replace(
                e, array=_array(new[0]), first=first, path=with_path_indices(e.path, own)
            )
            return replace(made, steps=steps, lengths=lengths)
        case Dim() | Stride():
            return replace(e, array=_array(new[0]))
        case Let():
            return replace(e, value=new[0], body=new[1])
        case Apply() | Call():
            return replace(e, arguments=new)
        case _:
            assert_never(e)


def path_indices(path: Path) -> tuple[Expr, ...]:
    """Return the indices in a path to a field of a record."""
    return tuple(step for step in path if not isinstance(step, str))


def with_path_indices(path: Path, new: Sequence[Expr]) -> Path:
    """Return a path with other indices."""
    indices = iter(new)
    return tuple(step if isinstance(step, str) else next(indices) for step in path)


def _array(e: Expr) -> Var:
    assert isinstance(e, Var), "an array is named by a variable"
    return e


def expressions(e: Expr) -> Iterator[Expr]:
    """Yield an expression and its subexpressions in pre-order."""
    yield e
    for child in children(e):
        yield from expressions(child)


def operands(s: Stmt) -> tuple[Expr, ...]:
    """Return the direct operands of a statement in order of evaluation, without targets."""
    match s:
        case Assign() | Evaluate():
            return (s.value,)
        case Print():
            return s.values
        case Store():
            return (s.value, *s.indices, *path_indices(s.path))
        case Declare():
            return () if s.init is None else (s.init,)
        case Return():
            return () if s.value is None else (s.value,)
        case If() | While():
            return (s.condition,)
        case For() | AxisLoop():
            return (s.start, s.stop, s.step)
        case BarrierWait():
            return (
                *(() if s.mask is None else (s.mask,)),
                *(contribution.value for contribution in s.contributions),
            )
        case Allocate() | Break() | Continue() | NextWorkItem():
            return ()
        case WorkItemLoop() | StripLoop() | BlockLoop() | CoroutineLoop():
            return ()
        case InlineC():
            return s.arguments
        case _:
            assert_never(s)


def with_operands(s: Stmt, new: tuple[Expr, ...]) -> Stmt:
    """Return the statement with other operands, as many as ``operands`` returns."""
    match s:
        case Assign() | Evaluate():
            return replace(s, value=new[0])
        case Print():
            return replace(s, values=new)
        case Store():
            end = 1 + len(s.indices)
            indices, path = new[1:end], with_path_indices(s.path, new[end:])
            return replace(s, value=new[0], indices=indices, path=path)
        case Declare():
            return replace(s, init=new[0]) if new else s
        case Return():
            return replace(s, value=new[0]) if new else s
        case If() | While():
            return replace(s, condition=new[0])
        case For() | AxisLoop():
            return replace(s, start=new[0], stop=new[1], step=new[2])
        case BarrierWait():
            mask, values = (None, new) if s.mask is None else (new[0], new[1:])
            contributions = tuple(
                replace(contribution, value=value)
                for contribution, value in zip(s.contributions, values)
            )
            return replace(s, mask=mask, contributions=contributions)
        case Allocate() | Break() | Continue() | NextWorkItem():
            return s
        case WorkItemLoop() | StripLoop() | BlockLoop() | CoroutineLoop():
            return s
        case InlineC():
            return replace(s, arguments=new)
        case _:
            assert_never(s)


def bodies(s: Stmt) -> tuple[Body, ...]:
    """Return the direct blocks of a statement."""
    match s:
        case If():
            return (s.then, s.orelse)
        case (
            While()
            | For()
            | WorkItemLoop()
            | StripLoop()
            | AxisLoop()
            | BlockLoop()
            | CoroutineLoop()
        ):
            return (s.body,)
        case _:
            return ()


def with_bodies(s: Stmt, new: tuple[Body, ...]) -> Stmt:
    """Return the statement with other blocks, as many as ``bodies`` returns."""
    match s:
        case If():
            return replace(s, then=new[0], orelse=new[1])
        case (
            While()
            | For()
            | WorkItemLoop()
            | StripLoop()
            | AxisLoop()
            | BlockLoop()
            | CoroutineLoop()
        ):
            return replace(s, body=new[0])
        case _:
            return s


def statements(body: Body) -> Iterator[Stmt]:
    """Yield the statements of a block and of the blocks inside it, in program order."""
    for s in body:
        yield s
        for inner in bodies(s):
            yield from statements(inner)


def all_expressions(body: Body) -> Iterator[Expr]:
    """Yield all expressions of all statements of a block."""
    for s in statements(body):
        for e in operands(s):
            yield from expressions(e)


def rewrite(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Rewrite an expression bottom-up: ``change`` receives nodes with rewritten children."""
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
