"""Convert the elements of constant arrays at compile time if all reads convert them to one type.

Requires the form C_SEMANTICS (``ir/forms.py``). Guarantees that each read gives the same value as
before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pycu2c.base.records import replace
from pycu2c.base.types import Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast
from pycu2c.ir.walk import all_expressions, map_expr, map_functions


def convert_constant_arrays(module: ir.Module) -> ir.Module:
    """Convert constant arrays: ``(float)WEIGHTS[i]`` of doubles -> ``WEIGHTS[i]`` of floats."""
    functions = module.functions
    nodes = [e for f in functions for e in all_expressions(f.body)]
    uses = Counter(e.name for e in nodes if isinstance(e, ir.Var))
    cast_types: dict[str, list[Scalar]] = {c.var.name: [] for c in module.constants}
    for e in nodes:
        match e:
            case ir.Cast(ir.Load(array=ir.Var(name=name)), Scalar() as target) if (
                name in cast_types
            ):
                cast_types[name].append(target)
    converted = {
        c.var.name: _convert_elements(c, cast_types[c.var.name][0])
        for c in module.constants
        if len(cast_types[c.var.name]) == uses[c.var.name]
        and len(set(cast_types[c.var.name])) == 1
        and all(isinstance(value, ir.Const) for value in c.values)
    }
    if not converted:
        return module
    constants = tuple(converted.get(c.var.name, c) for c in module.constants)
    rewritten = map_functions(module, lambda f: _replace_reads(f, converted))
    return replace(rewritten, constants=constants)


def _convert_elements(constant: ir.ConstantArray, target: Scalar) -> ir.ConstantArray:
    array_type = constant.var.type
    assert isinstance(array_type, Array)
    var = replace(constant.var, type=replace(array_type, dtype=target.dtype))
    return ir.ConstantArray(
        var, tuple(cast(value, Scalar(target.dtype)) for value in constant.values)
    )


def _replace_reads(function: ir.Function, converted: Mapping[str, ir.ConstantArray]) -> ir.Function:
    def replace_read(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Var(name=name) if name in converted:
                return replace(e, type=converted[name].var.type)
            case ir.Cast(ir.Load(array=ir.Var(name=name)) as load, Scalar() as target) if (
                name in converted
            ):
                return cast(load, target)
            case _:
                return e

    return replace(function, body=map_expr(function.body, replace_read))
