"""Constant arrays hold what is read of them: if all reads are converted to one type, the elements
are of this type, converted now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pycu2c.base.records import replace
from pycu2c.base.types import Array, Scalar
from pycu2c.ir.builders import cast
from pycu2c.ir.nodes import Cast, Const, ConstantArray, Expr, Function, Load, Module, Var
from pycu2c.ir.walk import all_expressions, map_expr, map_functions


def type_constants(module: Module) -> Module:
    """``(float)WEIGHTS[i]`` of doubles -> ``WEIGHTS[i]`` of floats."""
    functions = (*module.devices, module.kernel)
    seen = [e for f in functions for e in all_expressions(f.body)]
    mentions = Counter(e.name for e in seen if isinstance(e, Var))
    wanted: dict[str, list[Scalar]] = {c.var.name: [] for c in module.constants}
    for e in seen:
        match e:
            case Cast(Load(array=Var(name=name)), Scalar() as to) if name in wanted:
                wanted[name].append(to)
    types = {
        c.var.name: _with_element(c, wanted[c.var.name][0])
        for c in module.constants
        if len(wanted[c.var.name]) == mentions[c.var.name]
        and len(set(wanted[c.var.name])) == 1
        and all(isinstance(value, Const) for value in c.values)
    }
    if not types:
        return module
    constants = tuple(types.get(c.var.name, c) for c in module.constants)
    typed = map_functions(module, lambda f: _reading(f, types))
    return replace(typed, constants=constants)


def _with_element(constant: ConstantArray, to: Scalar) -> ConstantArray:
    kind = constant.var.type
    assert isinstance(kind, Array)
    var = replace(constant.var, type=replace(kind, dtype=to.dtype))
    return ConstantArray(var, tuple(cast(value, Scalar(to.dtype)) for value in constant.values))


def _reading(function: Function, types: Mapping[str, ConstantArray]) -> Function:
    def read(e: Expr) -> Expr:
        match e:
            case Var(name=name) if name in types:
                return replace(e, type=types[name].var.type)
            case Cast(Load(array=Var(name=name)) as load, Scalar() as to) if name in types:
                return cast(load, to)
            case _:
                return e

    return replace(function, body=map_expr(function.body, read))
