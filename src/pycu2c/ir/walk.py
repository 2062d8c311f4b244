"""Generic traversal of the IR: the children of a node, and bottom-up rewriting.

Passes that handle only some node kinds use these functions. Code that must handle all kinds uses
``match`` and ``assert_never``. Functions that change a node, a block or a module return the same
object if nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import UnionType
from typing import Any, TypeVar

from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.expressions import Path

N = TypeVar("N", ir.Expr, ir.Stmt)
Access = TypeVar("Access", bound=ir.Access)


# The fields of each kind of node that hold expressions, in order of evaluation. The value of a
# field is an expression, a tuple of expressions, a path, or None.
_EXPRESSION_FIELDS: Mapping[type[ir.Expr], tuple[str, ...]] = {
    ir.Const: (),
    ir.Var: (),
    ir.Unary: ("operand",),
    ir.Binary: ("left", "right"),
    ir.Logical: ("left", "right"),
    ir.Select: ("condition", "then", "orelse"),
    ir.Cast: ("operand",),
    ir.Load: ("array", "indices"),
    ir.ElementOf: ("array", "indices", "path"),
    ir.Member: ("operand",),
    ir.Item: ("operand", "index"),
    ir.Pack: ("parts",),
    ir.View: ("array", "first", "steps", "lengths", "path"),
    ir.Dim: ("array",),
    ir.Stride: ("array",),
    ir.Let: ("value", "body"),
    ir.Apply: ("arguments",),
    ir.Call: ("arguments",),
}
_OPERAND_FIELDS: Mapping[type[ir.Stmt], tuple[str, ...]] = {
    ir.Assign: ("value",),
    ir.Evaluate: ("value",),
    ir.Print: ("values",),
    ir.Store: ("value", "indices", "path"),
    ir.Declare: ("init",),
    ir.Return: ("value",),
    ir.If: ("condition",),
    ir.While: ("condition",),
    ir.For: ("start", "stop", "step"),
    ir.AxisLoop: ("start", "stop", "step"),
    ir.BarrierWait: ("mask",),  # and the values of its contributions
    ir.InlineC: ("arguments",),
}
_BODY_FIELDS: Mapping[type[ir.Stmt], tuple[str, ...]] = {
    ir.If: ("then", "orelse"),
    **dict.fromkeys((ir.While, ir.For, ir.AxisLoop, ir.StripLoop), ("body",)),
    **dict.fromkeys((ir.WorkItemLoop, ir.BlockLoop, ir.CoroutineLoop), ("body",)),
}


def _in_fields(node: ir.Expr | ir.Stmt, fields: tuple[str, ...]) -> tuple[ir.Expr, ...]:
    """Return the expressions in fields of a node."""
    found: list[ir.Expr] = []
    for name in fields:
        value = getattr(node, name)
        if isinstance(value, tuple):
            found += path_indices(value) if name == "path" and value else value
        elif value is not None:
            found.append(value)
    return tuple(found)


def _with_fields(node: N, fields: tuple[str, ...], new: Iterator[ir.Expr]) -> N:
    """Return a node with other expressions in its fields, as many as ``_in_fields`` returns."""
    changes: dict[str, Any] = {}
    for name in fields:
        value = getattr(node, name)
        if isinstance(value, tuple):
            changes[name] = tuple(item if isinstance(item, str) else next(new) for item in value)
        elif value is not None:
            changes[name] = next(new)
    return replace(node, **changes) if changes else node


def _forms(kind: type[ir.Expr | ir.Stmt], fields: tuple[str, ...]) -> list[str]:
    """Return what each field holds: "one" expression, a "tuple" of them, or "any" of the forms."""
    forms = {"Expr": "one", "Var": "one", "tuple[Expr, ...]": "tuple"}
    return [forms.get(kind.__annotations__[name], "any") for name in fields]


def _getter(kind: type[ir.Expr | ir.Stmt], fields: tuple[str, ...]) -> _Get:
    """Return a function that returns the expressions in fields of a node."""
    match _forms(kind, fields):
        case []:
            return lambda _: ()
        case ["one"]:
            get = attrgetter(fields[0])
            return lambda node: (get(node),)
        case ["one", "one"] | ["one", "one", "one"]:
            return attrgetter(*fields)
        case ["tuple"]:
            return attrgetter(fields[0])
        case ["one", "tuple"]:
            first, rest = map(attrgetter, fields)
            return lambda node: (first(node), *rest(node))
        case _:
            return lambda node: _in_fields(node, fields)


def _rebuilder(kind: type[ir.Expr | ir.Stmt], fields: tuple[str, ...]) -> _Rebuild:
    """Return a function that makes a node with other expressions in its fields."""
    names, forms = kind.__match_args__, _forms(kind, fields)
    start = names.index(fields[0]) if fields else 0
    stop = start + len(fields)
    if names[start:stop] != fields or "any" in forms or "tuple" in forms[:-1]:
        return lambda node, new: _with_fields(node, fields, iter(new))
    get, singles = attrgetter(*names), forms.count("one")

    def rebuild(node: Any, new: tuple[ir.Expr, ...]) -> Any:
        values = [*get(node)]
        values[start:stop] = (*new[:singles], new[singles:]) if singles < len(forms) else new
        return kind(*values)

    return rebuild


_Get = Callable[[Any], tuple[ir.Expr, ...]]
_Rebuild = Callable[[Any, tuple[ir.Expr, ...]], Any]
_CHILDREN = {kind: _getter(kind, fields) for kind, fields in _EXPRESSION_FIELDS.items()}
_WITH_CHILDREN = {kind: _rebuilder(kind, fields) for kind, fields in _EXPRESSION_FIELDS.items()}
_OPERANDS = {kind: _getter(kind, fields) for kind, fields in _OPERAND_FIELDS.items()}
_WITH_OPERANDS = {kind: _rebuilder(kind, fields) for kind, fields in _OPERAND_FIELDS.items()}


def children(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the direct subexpressions in order of evaluation, including the Var of an array."""
    return _CHILDREN[type(e)](e)


def with_children(e: ir.Expr, new: tuple[ir.Expr, ...]) -> ir.Expr:
    """Return the node with other subexpressions, as many as ``children`` returns."""
    return e if new == children(e) else _rebuilt(e, new)


def _rebuilt(e: ir.Expr, new: tuple[ir.Expr, ...]) -> ir.Expr:
    changed: ir.Expr = _WITH_CHILDREN[type(e)](e, new)
    return changed


def map_children(e: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """Apply a change to each direct subexpression."""
    old = children(e)
    if not old:
        return e
    new = tuple(map(change, old))
    return e if new == old else _rebuilt(e, new)


def with_indices(access: Access, indices: tuple[ir.Expr, ...]) -> Access:
    """Return an access to an element with other indices."""
    return access if indices == access.indices else replace(access, indices=indices)


def path_indices(path: Path) -> tuple[ir.Expr, ...]:
    """Return the indices in a path to a field of a record."""
    return tuple(step for step in path if not isinstance(step, str))


def with_path_indices(path: Path, new: Sequence[ir.Expr]) -> Path:
    """Return a path with other indices."""
    indices = iter(new)
    return tuple(step if isinstance(step, str) else next(indices) for step in path)


def descendants(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the subexpressions of an expression in pre-order; cached, because nodes are frozen."""
    try:
        return e.descendants
    except AttributeError:
        found, pending = [], [*children(e)[::-1]]
        while pending:
            current = pending.pop()
            found.append(current)
            if inner := children(current):
                pending += inner[::-1]
        object.__setattr__(e, "descendants", tuple(found))
        return e.descendants


def expressions(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return an expression and its subexpressions in pre-order."""
    return (e, *descendants(e))


def operands(s: ir.Stmt) -> tuple[ir.Expr, ...]:
    """Return the direct operands of a statement in order of evaluation, without targets."""
    get = _OPERANDS.get(type(s))
    found = get(s) if get else ()
    if isinstance(s, ir.BarrierWait):
        return (*found, *(contribution.value for contribution in s.contributions))
    return found


def with_operands(s: ir.Stmt, new: tuple[ir.Expr, ...]) -> ir.Stmt:
    """Return the statement with other operands, as many as ``operands`` returns."""
    if new == operands(s):
        return s
    if isinstance(s, ir.BarrierWait):
        values = iter(new)
        mask = next(values) if s.mask is not None else None
        contributions = (replace(c, value=value) for c, value in zip(s.contributions, values))
        return replace(s, mask=mask, contributions=tuple(contributions))
    rebuild = _WITH_OPERANDS.get(type(s))
    return rebuild(s, new) if rebuild else s


def map_operands(s: ir.Stmt, change: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    """Apply a change to each direct operand of a statement."""
    return with_operands(s, tuple(map(change, operands(s))))


def bodies(s: ir.Stmt) -> tuple[ir.Body, ...]:
    """Return the direct blocks of a statement."""
    fields = _BODY_FIELDS.get(type(s))
    return tuple([getattr(s, name) for name in fields]) if fields else ()


def with_bodies(s: ir.Stmt, new: tuple[ir.Body, ...]) -> ir.Stmt:
    """Return the statement with other blocks, as many as ``bodies`` returns."""
    if new == bodies(s):
        return s
    return replace(s, **dict[str, Any](zip(_BODY_FIELDS[type(s)], new)))


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


def has_jump(body: ir.Body, kind: type[ir.Break] | type[ir.Continue]) -> bool:
    """Return whether a block has a jump of the loop that it is in."""
    return any(isinstance(jump, kind) for jump in loop_jumps(body))


def never_completes(body: ir.Body) -> bool:
    """Return whether the statements after a block are not executed."""
    match body[-1] if body else None:
        case ir.Return() | ir.Break() | ir.Continue():
            return True
        case ir.If(then=then, orelse=orelse):
            return never_completes(then) and never_completes(orelse)
        case ir.While(condition=ir.Const(value=True), body=inner):
            return not has_jump(inner, ir.Break)
        case _:
            return False


def all_expressions(body: ir.Body) -> Iterator[ir.Expr]:
    """Yield all expressions of all statements of a block."""
    for s in statements(body):
        for e in operands(s):
            yield from expressions(e)


def accesses(body: ir.Body) -> Iterator[ir.Access]:
    """Yield the accesses of all statements of a block to elements of arrays."""
    for s in statements(body):
        yield from own_accesses(s)


def own_accesses(s: ir.Stmt) -> Iterator[ir.Access]:
    """Yield the accesses of a statement without those of the blocks inside it."""
    if isinstance(s, ir.Store):
        yield s
    for value in operands(s):
        yield from (e for e in expressions(value) if isinstance(e, ir.Load | ir.ElementOf))


def operations(functions: Iterable[ir.Function]) -> Iterator[ir.Apply]:
    """Yield the calls of intrinsics in functions."""
    for f in functions:
        yield from (e for e in all_expressions(f.body) if isinstance(e, ir.Apply))


def rewrite(e: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """Rewrite an expression bottom-up: ``change`` receives nodes with rewritten children."""

    def rewritten(node: ir.Expr) -> ir.Expr:
        return change(map_children(node, rewritten))

    return rewritten(e)


def map_expr(body: ir.Body, change: Callable[[ir.Expr], ir.Expr]) -> ir.Body:
    """Rewrite every expression of a block bottom-up."""
    new = tuple(_map_stmt_expr(s, change) for s in body)
    return body if new == body else new


def _map_stmt_expr(s: ir.Stmt, change: Callable[[ir.Expr], ir.Expr]) -> ir.Stmt:
    s = map_operands(s, lambda e: rewrite(e, change))
    return map_bodies(s, lambda b: map_expr(b, change))


def map_stmt(body: ir.Body, change: Callable[[ir.Stmt], ir.Body]) -> ir.Body:
    """Replace each statement by a block, inner statements first."""
    out: list[ir.Stmt] = []
    for s in body:
        out += change(map_bodies(s, lambda b: map_stmt(b, change)))
    new = tuple(out)
    return body if new == body else new


def contains(body: ir.Body, kinds: type[ir.Stmt] | UnionType) -> bool:
    """Return whether a block, or a block inside it, has a statement of some kinds."""
    return any(isinstance(s, kinds) for s in statements(body))


def with_body(function: ir.Function, body: ir.Body) -> ir.Function:
    """Return the function with another body; the function itself if the body is the same."""
    return function if body == function.body else replace(function, body=body)


def with_kernel_body(module: ir.Module, body: ir.Body) -> ir.Module:
    """Return the module with another body of the kernel."""
    kernel = with_body(module.kernel, body)
    return module if kernel is module.kernel else replace(module, kernel=kernel)


def map_functions(module: ir.Module, change: Callable[[ir.Function], ir.Function]) -> ir.Module:
    """Apply a change to every function of a module; the module itself if none changes."""
    devices = tuple(change(f) for f in module.device_functions)
    kernel = change(module.kernel)
    if kernel is module.kernel and devices == module.device_functions:
        return module
    return replace(module, kernel=kernel, device_functions=devices)
