"""The inferred types of the names in the source of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.ir import nodes as ir
from pycu2c.ir import walk

Types = dict[str, dict[str, None]]  # of each name, its types in order of appearance


def variable_types(function: ir.Function) -> Types:
    """Return the types of each variable and parameter of a function, by its Python name."""
    types: Types = {}
    for name, kind in _typed_names(function):
        types.setdefault(name.partition(".")[0], {}).setdefault(kind)
    return types


def _typed_names(function: ir.Function) -> Iterator[tuple[str, str]]:
    for parameter in function.parameters:
        yield parameter.name, str(parameter.type)
    for statement in walk.statements(function.body):
        if isinstance(var := getattr(statement, "var", None), ir.Var):
            yield var.name, str(var.type)
    for expression in walk.all_expressions(function.body):
        if isinstance(expression, ir.Var):
            yield expression.name, str(expression.type)
