"""Merge live ranges of one Python name that have the same type into one variable (CUDA).

``x`` and ``x.1`` of float32 -> ``x``. Loop counters stay separate, because C scopes them.
"""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk


def merge_live_ranges(module: ir.Module) -> ir.Module:
    """Merge live ranges: ``x.1 = 2.0:float32`` after ``x = 1.0:float32`` -> ``x = 2.0:float32``."""
    return walk.map_functions(module, _merge_in_function)


def _merge_in_function(function: ir.Function) -> ir.Function:
    names = _representatives(function)
    return replace(function, body=rename_variables(function.body, names)) if names else function


def _representatives(function: ir.Function) -> dict[str, str]:
    """Map the name of each live range to the representative of its name and type."""
    loop_counters = {s.var.name for s in walk.statements(function.body) if isinstance(s, ir.For)}
    representatives: dict[tuple[str, Scalar], str] = {}
    for parameter in function.parameters:
        if isinstance(parameter.type, Scalar):
            representatives[parameter.name, parameter.type] = parameter.name
    names: dict[str, str] = {}
    for var in _variables(function.body):
        python_name, _, version = var.name.partition(".")
        if var.name in loop_counters or not isinstance(var.type, Scalar):
            continue
        if version == "" or version.isdigit():
            common = representatives.setdefault((python_name, var.type), var.name)
            if common != var.name:
                names[var.name] = common
    return names


def _variables(body: ir.Body) -> list[ir.Var]:
    """Return every variable in program order, first all targets, then all operands."""
    result = [s.var for s in walk.statements(body) if isinstance(s, (ir.Assign, ir.Declare))]
    return result + [e for e in walk.all_expressions(body) if isinstance(e, ir.Var)]


def rename_variables(body: ir.Body, names: dict[str, str]) -> ir.Body:
    """Rename the variables that are keys of ``names`` to their values."""

    def rename(v: ir.Var) -> ir.Var:
        return replace(v, name=names[v.name]) if v.name in names else v

    def expression(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Var):
            return rename(e)
        if isinstance(e, ir.Let) and e.name in names:
            return replace(e, name=names[e.name])
        return e

    def statement(s: ir.Stmt) -> ir.Stmt:
        s = walk.map_operands(s, lambda e: walk.rewrite(e, expression))
        s = walk.map_bodies(s, lambda b: rename_variables(b, names))
        match s:
            case ir.Assign() | ir.Declare() | ir.For() | ir.Allocate() if s.var.name in names:
                return replace(s, var=rename(s.var))
            case ir.Store() if s.array.name in names:
                return replace(s, array=rename(s.array))
            case _:
                return s

    return tuple(statement(s) for s in body)
