"""Each variable is declared in the smallest block that holds all its uses, with its first
value where it has one there.

``x = 1; if c: y = x + 1; out[i] = y`` -> ``Declare x = 1; if c: Declare y = …``
"""

from __future__ import annotations

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar
from pycu2c.ir.builders import zero
from pycu2c.ir.nodes import (
    Assign,
    AxisLoop,
    Body,
    Break,
    Continue,
    Declare,
    For,
    Function,
    If,
    Module,
    NextWorkItem,
    Return,
    Stmt,
    StripLoop,
    Var,
    While,
    WorkItemLoop,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    expressions,
    map_functions,
    operands,
    statements,
    with_bodies,
)


def declare(module: Module) -> Module:
    """Put a Declare where each variable of each function begins."""
    return map_functions(module, _declared)


def _declared(function: Function) -> Function:
    own = {p.name for p in function.parameters}
    own |= {s.var.name for s in statements(function.body) if isinstance(s, For)}
    variables = {
        s.var.name: s.var
        for s in statements(function.body)
        if isinstance(s, Assign) and s.var.name not in own
    }
    return replace(function, body=_place(function.body, list(variables.values())))


def _place(body: Body, variables: list[Var]) -> Body:
    """Declare ``variables``, all of whose uses are in this block, here or further in."""
    inner: dict[tuple[int, int], list[Var]] = {}
    here: dict[int, list[Var]] = {}
    for var in variables:
        users = [i for i, s in enumerate(body) if _mentions(s, var.name)]
        if not users:  # its only assignment was dropped
            continue
        block = _only_block(body[users[0]], var.name) if len(users) == 1 else None
        if block is None:
            here.setdefault(users[0], []).append(var)
        else:
            inner.setdefault((users[0], block), []).append(var)
    out: list[Stmt] = []
    for i, s in enumerate(body):
        blocks = tuple(_place(b, inner.get((i, k), [])) for k, b in enumerate(bodies(s)))
        out += _with_declarations(with_bodies(s, blocks), here.get(i, []), body)
    return tuple(out)


def _with_declarations(s: Stmt, variables: list[Var], body: Body) -> list[Stmt]:
    out: list[Stmt] = []
    for var in variables:
        if isinstance(s, Assign) and s.var.name == var.name and not _reads(s, var.name):
            return [*out, Declare(s.var, s.value, s.span)]
        assert isinstance(var.type, Scalar)
        start = zero(var.type, s.span) if flow(body, var.name, False).unsafe else None
        out.append(Declare(var, start, s.span))
    return [*out, s]


def _mentions(s: Stmt, name: str) -> bool:
    return _reads(s, name) or any(
        isinstance(inner, (Assign, Declare)) and inner.var.name == name
        for inner in statements((s,))
    )


def _reads(s: Stmt, name: str) -> bool:
    return any(isinstance(e, Var) and e.name == name for e in all_expressions((s,)))


def _only_block(s: Stmt, name: str) -> int | None:
    """The one block inside a statement that holds all uses of a variable, if it may live there:
    a loop's block only if no iteration sees what the one before has left."""
    if any(isinstance(e, Var) and e.name == name for x in operands(s) for e in expressions(x)):
        return None
    blocks = [k for k, b in enumerate(bodies(s)) if any(_mentions(x, name) for x in b)]
    if len(blocks) != 1:
        return None
    carried = isinstance(s, (For, While)) and flow(bodies(s)[blocks[0]], name, False).unsafe
    return None if carried else blocks[0]


@dataclass(frozen=True, slots=True)
class Flow:
    """What a block does with a variable: whether a read may come before every assignment, and
    whether it is assigned at the end (True too where the end is not reached)."""

    unsafe: bool
    assigned: bool


def flow(body: Body, name: str, assigned: bool) -> Flow:
    """Follow one variable through a block."""
    unsafe = False
    for s in body:
        step = _step(s, name, assigned)
        unsafe, assigned = unsafe or step.unsafe, step.assigned
    return Flow(unsafe, assigned)


def _step(s: Stmt, name: str, assigned: bool) -> Flow:
    read = any(isinstance(e, Var) and e.name == name for x in operands(s) for e in expressions(x))
    unsafe = read and not assigned
    match s:
        case Assign() | Declare():
            return Flow(unsafe, assigned or s.var.name == name)
        case If():
            then, orelse = flow(s.then, name, assigned), flow(s.orelse, name, assigned)
            bad = unsafe or then.unsafe or orelse.unsafe
            return Flow(bad, then.assigned and orelse.assigned)
        case For() | While():
            inside = flow(s.body, name, assigned)
            return Flow(unsafe or inside.unsafe, assigned)
        case WorkItemLoop() | StripLoop() | AxisLoop():
            inside = flow(s.body, name, assigned)
            return Flow(unsafe or inside.unsafe, inside.assigned)
        case Return() | Break() | Continue() | NextWorkItem():
            return Flow(unsafe, True)
        case _:
            return Flow(unsafe, assigned)
