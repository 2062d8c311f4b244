"""Generic traversal of the IR: the children of a node, and bottom-up rewriting.

Passes that handle only some node kinds use these functions. Code that must handle all kinds uses
``match`` and ``assert_never``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import UnionType
from typing import assert_never

from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.expressions import Path


def children(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the direct subexpressions in order of evaluation, including the Var of an array."""
    match e:
        case ir.Const() | ir.Var():
            return ()
        case ir.Unary() | ir.Cast() | ir.Member():
            return (e.operand,)
        case ir.Binary() | ir.Logical():
            return (e.left, e.right)
        case ir.Select():
            return (e.condition, e.then, e.orelse)
        case ir.Item():
            return (e.operand, e.index)
        case ir.Load():
            return (e.array, *e.indices)
        case ir.ElementOf():
            return (e.array, *e.indices, *path_indices(e.path))
        case ir.Pack():
            return e.parts
        case ir.View():
            return (e.array, *e.first, *e.steps, *e.lengths, *path_indices(e.path))
        case ir.Dim() | ir.Stride():
            return (e.array,)
        case ir.Let():
            return (e.value, e.body)
        case ir.Apply() | ir.Call():
            return e.arguments
        case _:
            assert_never(e)


def with_children(e: ir.Expr, new: tuple[ir.Expr, ...]) -> ir.Expr:
    """Return the node with other subexpressions, as many as ``children`` returns."""
    match e:
        case ir.Const() | ir.Var():
            return e
        case ir.Unary() | ir.Cast() | ir.Member():
            return replace(e, operand=new[0])
        case ir.Binary() | ir.Logical():
            return replace(e, left=new[0], right=new[1])
        case ir.Select():
            return replace(e, condition=new[0], then=new[1], orelse=new[2])
        case ir.Item():
            return replace(e, operand=new[0], index=new[1])
        case ir.Load():
            return replace(e, array=_array(new[0]), indices=new[1:])
        case ir.ElementOf():
            end = 1 + len(e.indices)
            indices, path = new[1:end], with_path_indices(e.path, new[end:])
            return replace(e, array=_array(new[0]), indices=indices, path=path)
        case ir.Pack():
            return replace(e, parts=new)
        case ir.View():
            first, rest = new[1 : 1 + len(e.first)], new[1 + len(e.first) :]
            count = len(e.axes)
            steps, lengths, path_values = rest[:count], rest[count : 2 * count], rest[2 * count :]
            view = replace(
                e, array=_array(new[0]), first=first, path=with_path_indices(e.path, path_values)
            )
            return replace(view, steps=steps, lengths=lengths)
        case ir.Dim() | ir.Stride():
            return replace(e, array=_array(new[0]))
        case ir.Let():
            return replace(e, value=new[0], body=new[1])
        case ir.Apply() | ir.Call():
            return replace(e, arguments=new)
        case _:
            assert_never(e)


def map_children(e: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """Apply a change to each direct subexpression."""
    return with_children(e, tuple(map(change, children(e))))


def path_indices(path: Path) -> tuple[ir.Expr, ...]:
    """Return the indices in a path to a field of a record."""
    return tuple(step for step in path if not isinstance(step, str))


def with_path_indices(path: Path, new: Sequence[ir.Expr]) -> Path:
    """Return a path with other indices."""
    indices = iter(new)
    return tuple(step if isinstance(step, str) else next(indices) for step in path)


def _array(e: ir.Expr) -> ir.Var:
    assert isinstance(e, ir.Var), "an array is named by a variable"
    return e


def expressions(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield an expression and its subexpressions in pre-order."""
    pending = [e]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def operands(s: ir.Stmt) -> tuple[ir.Expr, ...]:
    """Return the direct operands of a statement in order of evaluation, without targets."""
    match s:
        case ir.Assign() | ir.Evaluate():
            return (s.value,)
        case ir.Print():
            return s.values
        case ir.Store():
            return (s.value, *s.indices, *path_indices(s.path))
        case ir.Declare():
            return () if s.init is None else (s.init,)
        case ir.Return():
            return () if s.value is None else (s.value,)
        case ir.If() | ir.While():
            return (s.condition,)
        case ir.For() | ir.AxisLoop():
            return (s.start, s.stop, s.step)
        case ir.BarrierWait():
            return (
                *(() if s.mask is None else (s.mask,)),
                *(contribution.value for contribution in s.contributions),
            )
        case ir.Allocate() | ir.Break() | ir.Continue() | ir.NextWorkItem():
            return ()
        case ir.WorkItemLoop() | ir.StripLoop() | ir.BlockLoop() | ir.CoroutineLoop():
            return ()
        case ir.InlineC():
            return s.arguments
        case _:
            assert_never(s)


def with_operands(s: ir.Stmt, new: tuple[ir.Expr, ...]) -> ir.Stmt:
    """Return the statement with other operands, as many as ``operands`` returns."""
    match s:
        case ir.Assign() | ir.Evaluate():
            return replace(s, value=new[0])
        case ir.Print():
            return replace(s, values=new)
        case ir.Store():
            end = 1 + len(s.indices)
            indices, path = new[1:end], with_path_indices(s.path, new[end:])
            return replace(s, value=new[0], indices=indices, path=path)
        case ir.Declare():
            return replace(s, init=new[0]) if new else s
        case ir.Return():
            return replace(s, value=new[0]) if new else s
        case ir.If() | ir.While():
            return replace(s, condition=new[0])
        case ir.For() | ir.AxisLoop():
            return replace(s, start=new[0], stop=new[1], step=new[2])
        case ir.BarrierWait():
            mask, values = (None, new) if s.mask is None else (new[0], new[1:])
            contributions = tuple(
                replace(contribution, value=value)
                for contribution, value in zip(s.contributions, values)
            )
            return replace(s, mask=mask, contributions=contributions)
        case ir.Allocate() | ir.Break() | ir.Continue() | ir.NextWorkItem():
            return s
        case ir.WorkItemLoop() | ir.StripLoop() | ir.BlockLoop() | ir.CoroutineLoop():
            return s
        case ir.InlineC():
            return replace(s, arguments=new)
        case _:
            assert_never(s)


def map_operands(s: ir.Stmt, change: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    """Apply a change to each direct operand of a statement."""
    return with_operands(s, tuple(map(change, operands(s))))


def bodies(s: ir.Stmt) -> tuple[ir.Body, ...]:
    """Return the direct blocks of a statement."""
    match s:
        case ir.If():
            return (s.then, s.orelse)
        case (
            ir.While()
            | ir.For()
            | ir.WorkItemLoop()
            | ir.StripLoop()
            | ir.AxisLoop()
            | ir.BlockLoop()
            | ir.CoroutineLoop()
        ):
            return (s.body,)
        case _:
            return ()


def with_bodies(s: ir.Stmt, new: tuple[ir.Body, ...]) -> ir.Stmt:
    """Return the statement with other blocks, as many as ``bodies`` returns."""
    match s:
        case ir.If():
            return replace(s, then=new[0], orelse=new[1])
        case (
            ir.While()
            | ir.For()
            | ir.WorkItemLoop()
            | ir.StripLoop()
            | ir.AxisLoop()
            | ir.BlockLoop()
            | ir.CoroutineLoop()
        ):
            return replace(s, body=new[0])
        case _:
            return s


def map_bodies(s: ir.Stmt, change: Callable[[ir.Body], ir.Body]) -> ir.Stmt:
    """Apply a change to each direct block of a statement."""
    return with_bodies(s, tuple(map(change, bodies(s))))


def statements(body: ir.Body) -> Iterator[ir.Stmt]:
    """Yield the statements of a block and of the blocks inside it, in program order."""
    for s in body:
        yield s
        for inner in bodies(s):
            yield from statements(inner)


def loop_jumps(body: ir.Body) -> Iterator[ir.Break | ir.Continue]:
    """Yield the jumps of a loop from its body, without those of nested loops."""
    for s in body:
        if isinstance(s, ir.Break | ir.Continue):
            yield s
        elif not isinstance(s, ir.While | ir.For):
            for inner in bodies(s):
                yield from loop_jumps(inner)


def all_expressions(body: ir.Body) -> Iterator[ir.Expr]:
    """Yield all expressions of all statements of a block."""
    for s in statements(body):
        for e in operands(s):
            yield from expressions(e)


def rewrite(e: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """Rewrite an expression bottom-up: ``change`` receives nodes with rewritten children."""
    old = children(e)
    new = tuple(rewrite(child, change) for child in old)
    return change(e if new == old else with_children(e, new))


def map_expr(body: ir.Body, change: Callable[[ir.Expr], ir.Expr]) -> ir.Body:
    """Rewrite every expression of a block bottom-up."""
    return tuple(_map_stmt_expr(s, change) for s in body)


def _map_stmt_expr(s: ir.Stmt, change: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    s = map_operands(s, lambda e: rewrite(e, change))
    return map_bodies(s, lambda b: map_expr(b, change))


def map_stmt(body: ir.Body, change: Callable[[ir.Stmt], ir.Body]) -> ir.Body:
    """Replace each statement by a block, inner statements first."""
    out: list[ir.Stmt] = []
    for s in body:
        out += change(map_bodies(s, lambda b: map_stmt(b, change)))
    return tuple(out)


def contains(body: ir.Body, kinds: type[ir.Stmt] | UnionType) -> bool:
    """Return whether a block, or a block inside it, has a statement of some kinds."""
    return any(isinstance(s, kinds) for s in statements(body))


def with_kernel_body(module: ir.Module, body: ir.Body) -> ir.Module:
    """Return the module with another body of the kernel."""
    return replace(module, kernel=replace(module.kernel, body=body))


def map_functions(module: ir.Module, change: Callable[[ir.Function], ir.Function]) -> ir.Module:
    """Apply a change to every function of a module."""
    devices = tuple(change(f) for f in module.device_functions)
    return replace(module, kernel=change(module.kernel), device_functions=devices)
