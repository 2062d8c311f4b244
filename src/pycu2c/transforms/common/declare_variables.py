"""Insert declarations: declare each variable in the smallest block that contains all its uses.

``x = 1; if c: y = x + 1; out[i] = y`` -> ``Declare x = 1; if c: Declare y = …``. If the
first statement that uses a variable assigns it, the declaration replaces this assignment. Requires
the form FLAT (``ir/forms.py``); guarantees that C declares every variable before its use.
"""

from __future__ import annotations

from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.analysis.variables import names_by_statement, names_in
from pycu2c.base.records import dataclass, replace
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
    insertion = _Insertion(names_by_statement(function.body))
    return replace(function, body=insertion.block(function.body, list(variables.values())))


@dataclass(slots=True)
class _Insertion:
    """Inserts the declarations of one function."""

    names: dict[int, frozenset[str]]  # used by each statement

    def block(self, body: ir.Body, variables: list[ir.Var]) -> ir.Body:
        """Declare ``variables``, all of whose uses are in this block or nested blocks."""
        if not variables:
            return body
        names = {var.name for var in variables}
        positions: dict[str, list[int]] = {name: [] for name in names}
        for i, s in enumerate(body):
            for name in self.names[id(s)] & names:
                positions[name].append(i)
        nested: dict[int, list[ir.Var]] = {}  # by the statement whose blocks have all uses
        preceding: dict[int, list[ir.Var]] = {}  # by the statement to declare them before
        single = {at[0] for at in positions.values() if len(at) == 1}
        inside = {i: self._local_names(body[i]) for i in single}
        for var in variables:
            match positions[var.name]:
                case [i] if var.name in inside[i]:
                    nested.setdefault(i, []).append(var)
                case [i, *_]:
                    preceding.setdefault(i, []).append(var)
                case []:  # dead code elimination dropped its only assignment
                    pass
        exposed = upward_exposed_reads(body) if preceding else set()
        out: list[ir.Stmt] = []
        for i, s in enumerate(body):
            if i in nested:
                blocks = (
                    self.block(block, [var for var in nested[i] if inside[i][var.name] == k])
                    for k, block in enumerate(walk.bodies(s))
                )
                s = walk.with_bodies(s, tuple(blocks))
            out += _with_declarations(s, preceding.get(i, []), exposed)
        return tuple(out)

    def _local_names(self, s: ir.Stmt) -> dict[str, int]:
        """Map each variable that only one nested block uses to the index of the block.

        In a loop, the variable must not carry a value from one iteration to the next.
        """
        shared = set(names_in(*walk.operands(s)))
        if isinstance(s, ir.For | ir.While):
            shared |= upward_exposed_reads(s.body)
        blocks = [
            frozenset().union(*(self.names[id(x)] for x in block)) for block in walk.bodies(s)
        ]
        if len(blocks) == 2:
            shared |= blocks[0] & blocks[1]
        return {name: k for k, names in enumerate(blocks) for name in names - shared}


def _with_declarations(s: ir.Stmt, variables: list[ir.Var], exposed: set[str]) -> list[ir.Stmt]:
    """Return a statement after declarations; ``exposed`` are read before they are assigned."""
    out: list[ir.Stmt] = []
    for var in variables:
        if (
            isinstance(s, ir.Assign)
            and s.var.name == var.name
            and var.name not in names_in(s.value)
        ):
            return [*out, ir.Declare(s.var, s.value, s.span)]
        assert isinstance(var.type, Scalar)
        initial = zero(var.type, s.span) if var.name in exposed else None
        out.append(ir.Declare(var, initial, s.span))
    return [*out, s]
