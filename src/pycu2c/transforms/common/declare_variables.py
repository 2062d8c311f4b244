"""Insert declarations: declare each variable in the smallest block that contains all its uses.

``x = 1; if c: y = x + 1; out[i] = y`` -> ``Declare x = 1; if c: Declare y = …``. The declaration
has the variable's first value where it is assigned there. Requires legal, flat IR; guarantees that
C declares every variable before its use.
"""

from __future__ import annotations

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import zero
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    expressions,
    map_functions,
    operands,
    statements,
    with_bodies,
)


def declare(module: ir.Module) -> ir.Module:
    """Insert a Declare for each variable of each function."""
    return map_functions(module, _declare_in)


def _declare_in(function: ir.Function) -> ir.Function:
    declared_elsewhere = {p.name for p in function.parameters}
    declared_elsewhere |= {s.var.name for s in statements(function.body) if isinstance(s, ir.For)}
    variables = {
        s.var.name: s.var
        for s in statements(function.body)
        if isinstance(s, ir.Assign) and s.var.name not in declared_elsewhere
    }
    return replace(function, body=_insert_declarations(function.body, list(variables.values())))


def _insert_declarations(body: ir.Body, variables: list[ir.Var]) -> ir.Body:
    """Declare ``variables``, all of whose uses are in this block or nested blocks."""
    inner: dict[tuple[int, int], list[ir.Var]] = {}
    here: dict[int, list[ir.Var]] = {}
    for var in variables:
        use_positions = [i for i, s in enumerate(body) if _mentions(s, var.name)]
        if not use_positions:  # dead code elimination dropped its only assignment
            continue
        block = _only_block(body[use_positions[0]], var.name) if len(use_positions) == 1 else None
        if block is None:
            here.setdefault(use_positions[0], []).append(var)
        else:
            inner.setdefault((use_positions[0], block), []).append(var)
    out: list[ir.Stmt] = []
    for i, s in enumerate(body):
        blocks = tuple(
            _insert_declarations(b, inner.get((i, k), [])) for k, b in enumerate(bodies(s))
        )
        out += _with_declarations(with_bodies(s, blocks), here.get(i, []), body)
    return tuple(out)


def _with_declarations(s: ir.Stmt, variables: list[ir.Var], body: ir.Body) -> list[ir.Stmt]:
    out: list[ir.Stmt] = []
    for var in variables:
        if isinstance(s, ir.Assign) and s.var.name == var.name and not _reads(s, var.name):
            return [*out, ir.Declare(s.var, s.value, s.span)]
        assert isinstance(var.type, Scalar)
        start = (
            zero(var.type, s.span)
            if assignment_flow(body, var.name, False).reads_unassigned
            else None
        )
        out.append(ir.Declare(var, start, s.span))
    return [*out, s]


def _mentions(s: ir.Stmt, name: str) -> bool:
    return _reads(s, name) or any(
        isinstance(inner, (ir.Assign, ir.Declare)) and inner.var.name == name
        for inner in statements((s,))
    )


def _reads(s: ir.Stmt, name: str) -> bool:
    return any(isinstance(e, ir.Var) and e.name == name for e in all_expressions((s,)))


def _only_block(s: ir.Stmt, name: str) -> int | None:
    """Return the index of the one nested block that contains all uses, or None.

    For a loop, the variable must not carry a value from one iteration to the next.
    """
    if any(isinstance(e, ir.Var) and e.name == name for x in operands(s) for e in expressions(x)):
        return None
    blocks = [k for k, b in enumerate(bodies(s)) if any(_mentions(x, name) for x in b)]
    if len(blocks) != 1:
        return None
    carried = (
        isinstance(s, (ir.For, ir.While))
        and assignment_flow(bodies(s)[blocks[0]], name, False).reads_unassigned
    )
    return None if carried else blocks[0]


@dataclass(frozen=True, slots=True)
class AssignmentFlow:
    """Flow of one variable through a block.

    ``reads_unassigned``: a read may precede every assignment. ``assigned``: it is assigned at the
    end (also True if the end is unreachable).
    """

    reads_unassigned: bool
    assigned: bool


def assignment_flow(body: ir.Body, name: str, assigned: bool) -> AssignmentFlow:
    """Follow one variable through a block."""
    reads_unassigned = False
    for s in body:
        step = _statement_flow(s, name, assigned)
        reads_unassigned, assigned = reads_unassigned or step.reads_unassigned, step.assigned
    return AssignmentFlow(reads_unassigned, assigned)


def _statement_flow(s: ir.Stmt, name: str, assigned: bool) -> AssignmentFlow:
    read = any(
        isinstance(e, ir.Var) and e.name == name for x in operands(s) for e in expressions(x)
    )
    reads_unassigned = read and not assigned
    match s:
        case ir.Assign() | ir.Declare():
            return AssignmentFlow(reads_unassigned, assigned or s.var.name == name)
        case ir.If():
            then, orelse = (
                assignment_flow(s.then, name, assigned),
                assignment_flow(s.orelse, name, assigned),
            )
            either_unassigned = reads_unassigned or then.reads_unassigned or orelse.reads_unassigned
            return AssignmentFlow(either_unassigned, then.assigned and orelse.assigned)
        case ir.For() | ir.While():
            inside = assignment_flow(s.body, name, assigned)
            return AssignmentFlow(reads_unassigned or inside.reads_unassigned, assigned)
        case ir.WorkItemLoop() | ir.StripLoop() | ir.AxisLoop():
            inside = assignment_flow(s.body, name, assigned)
            return AssignmentFlow(reads_unassigned or inside.reads_unassigned, inside.assigned)
        case ir.Return() | ir.Break() | ir.Continue() | ir.NextWorkItem():
            return AssignmentFlow(reads_unassigned, True)
        case _:
            return AssignmentFlow(reads_unassigned, assigned)
