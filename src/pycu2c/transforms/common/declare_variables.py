"""Insert declarations: declare each variable in the smallest block that contains all its uses.

``x = 1; if c: y = x + 1; out[i] = y`` -> ``Declare x = 1; if c: Declare y = …``. If the
first statement that uses a variable assigns it, the declaration replaces this assignment. Requires
the form FLAT (``ir/forms.py``); guarantees that C declares every variable before its use.
"""

from __future__ import annotations

from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.analysis.variables import defined_names, names_in
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import zero


def declare(module: ir.Module) -> ir.Module:
    """Insert a Declare for each variable of each function."""
    return walk.map_functions(module, _declare_in)


def _declare_in(function: ir.Function) -> ir.Function:
    declared_elsewhere = {p.name for p in function.parameters}
    declared_elsewhere |= {
        s.var.name for s in walk.statements(function.body) if isinstance(s, ir.For)
    }
    variables = {
        s.var.name: s.var
        for s in walk.statements(function.body)
        if isinstance(s, ir.Assign) and s.var.name not in declared_elsewhere
    }
    return replace(function, body=_insert_declarations(function.body, list(variables.values())))


def _insert_declarations(body: ir.Body, variables: list[ir.Var]) -> ir.Body:
    """Declare ``variables``, all of whose uses are in this block or nested blocks."""
    nested_variables: dict[tuple[int, int], list[ir.Var]] = {}  # by statement, nested block
    block_variables: dict[int, list[ir.Var]] = {}  # by the statement to declare them before
    for var in variables:
        use_positions = [i for i, s in enumerate(body) if _mentions(s, var.name)]
        if not use_positions:  # dead code elimination dropped its only assignment
            continue
        block = _only_block(body[use_positions[0]], var.name) if len(use_positions) == 1 else None
        if block is None:
            block_variables.setdefault(use_positions[0], []).append(var)
        else:
            nested_variables.setdefault((use_positions[0], block), []).append(var)
    out: list[ir.Stmt] = []
    for i, s in enumerate(body):
        blocks = tuple(
            _insert_declarations(b, nested_variables.get((i, k), []))
            for k, b in enumerate(walk.bodies(s))
        )
        out += _with_declarations(walk.with_bodies(s, blocks), block_variables.get(i, []), body)
    return tuple(out)


def _with_declarations(s: ir.Stmt, variables: list[ir.Var], body: ir.Body) -> list[ir.Stmt]:
    out: list[ir.Stmt] = []
    for var in variables:
        if isinstance(s, ir.Assign) and s.var.name == var.name and not _reads(s, var.name):
            return [*out, ir.Declare(s.var, s.value, s.span)]
        assert isinstance(var.type, Scalar)
        initial = zero(var.type, s.span) if var.name in upward_exposed_reads(body) else None
        out.append(ir.Declare(var, initial, s.span))
    return [*out, s]


def _mentions(s: ir.Stmt, name: str) -> bool:
    return _reads(s, name) or name in defined_names((s,))


def _reads(s: ir.Stmt, name: str) -> bool:
    return name in names_in(*walk.all_expressions((s,)))


def _only_block(s: ir.Stmt, name: str) -> int | None:
    """Return the index of the one nested block that contains all uses, or None.

    For a loop, the variable must not carry a value from one iteration to the next.
    """
    if name in names_in(*walk.operands(s)):
        return None
    blocks = [k for k, b in enumerate(walk.bodies(s)) if any(_mentions(x, name) for x in b)]
    if len(blocks) != 1:
        return None
    is_carried = isinstance(s, (ir.For, ir.While)) and name in upward_exposed_reads(s.body)
    return None if is_carried else blocks[0]
