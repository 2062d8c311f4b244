"""Convert constants at compile time if all reads convert them to one type.

These are the elements of constant arrays, literals that a conditional expression selects, and
variables that are only assigned one of these. Requires the form C_SEMANTICS (``ir/forms.py``).
Guarantees that each read gives the same value as before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pycu2c.analysis.variables import single_assignments
from pycu2c.base.records import replace
from pycu2c.base.types import Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast
from pycu2c.ir.walk import all_expressions, map_expr, map_functions, map_stmt, with_body


def convert_constants(module: ir.Module) -> ir.Module:
    """Convert constants: ``(float)WEIGHTS[i]`` of doubles -> ``WEIGHTS[i]`` of floats."""
    return map_functions(_convert_arrays(module), _convert_literals)


# ---- conditional expressions ---------------------------------------------------------------


def _convert_literals(function: ir.Function) -> ir.Function:
    """Convert selected literals: ``(float)(b ? 2.0 : 0.5)`` -> ``b ? 2.0f : 0.5f``."""

    def converted(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Cast(ir.Select() as select, Scalar() as target) if _is_weak_float(
                select
            ) and _is_c_float(target):
                return _convert(select, target)
            case _:
                return e

    return with_body(function, map_expr(_convert_variables(function).body, converted))


def _convert(e: ir.Expr, target: Scalar) -> ir.Expr:
    if isinstance(e, ir.Select):
        then, orelse = _convert(e.then, target), _convert(e.orelse, target)
        return replace(e, then=then, orelse=orelse, type=target)
    return cast(e, target)


# ---- variables -----------------------------------------------------------------------------


def _convert_variables(function: ir.Function) -> ir.Function:
    """Convert variables: ``c = 0.5; x * (float)c`` -> ``c = 0.5f; x * c``."""
    body = function.body
    constants = {
        name: set[Scalar]()
        for name, value in single_assignments(function).items()
        if _is_weak_float(value)
    }
    if not constants:
        return function
    uses: Counter[str] = Counter()
    for e in all_expressions(body):
        match e:
            case ir.Var(name=name):
                uses[name] += 1
            case ir.Cast(ir.Var(name=name), Scalar() as target) if name in constants:
                uses[name] -= 1  # of the variable inside
                constants[name].add(target)
    types = {
        name: Scalar(target.dtype)
        for name, targets in constants.items()
        for target in targets
        if uses[name] == 0 and len(targets) == 1 and _is_c_float(target)
    }

    def converted(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Cast(ir.Var(name=name) as var, Scalar() as target) if name in types:
                return cast(replace(var, type=types[name]), target)
            case _:
                return e

    def statement(s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Assign) and s.var.name in types:
            var = replace(s.var, type=types[s.var.name])
            return (replace(s, var=var, value=_convert(s.value, types[s.var.name])),)
        return (s,)

    return with_body(function, map_stmt(map_expr(body, converted), statement) if types else body)


def _is_weak_float(e: ir.Expr) -> bool:
    """Return whether a weak float is a literal or selected from literals."""
    if isinstance(e, ir.Select):
        return _is_weak_float(e.then) and _is_weak_float(e.orelse)
    return isinstance(e, ir.Const) and e.type.weak and e.type.dtype.is_float


def _is_c_float(scalar: Scalar) -> bool:
    return scalar.dtype.is_float and not scalar.dtype.is_half


# ---- arrays --------------------------------------------------------------------------------


def _convert_arrays(module: ir.Module) -> ir.Module:
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

    return with_body(function, map_expr(function.body, replace_read))
