"""Select the inline C of device functions on targets that have it; use Python bodies elsewhere.

Requires the form TYPED (``ir/forms.py``). Guarantees that no function has external code beside its
body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import CodeLine, DialectCode, length_name, stride_name
from pycu2c.base.records import replace
from pycu2c.base.spans import Span
from pycu2c.base.types import Array, int64
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import transitive_callees
from pycu2c.ir.walk import map_functions

_INDEX_TYPES = {"cuda": int64.dtype.cuda, "c": int64.dtype.c}
_TARGET_OPTIONS = {"cuda": ("CUDA", 'cuda="…"'), "c": ("the CPU", 'cpu="…"')}


def select_inline_c(module: ir.Module, dialect: str) -> ir.Module:
    """Replace the body of each device function by its inline C for the dialect, if it has such.

    Device functions that become unreachable are dropped.
    """
    selected = map_functions(module, lambda f: _select(f, dialect))
    reachable = transitive_callees((*selected.device_functions, selected.kernel))[
        selected.kernel.name
    ]
    return replace(
        selected,
        device_functions=tuple(f for f in selected.device_functions if f.name in reachable),
    )


def select_python_bodies(module: ir.Module) -> ir.Module:
    """Select the Python bodies of functions that have no C for the CPU."""
    return map_functions(module, _with_python_body)


def _with_python_body(function: ir.Function) -> ir.Function:
    code = function.external_code
    if code is None or not code.has_python_body or code.code("c") is not None:
        return function
    return replace(function, external_code=None)


def _select(function: ir.Function, dialect: str) -> ir.Function:
    if function.external_code is None:
        return function
    code = function.external_code.code(dialect)
    if code is not None:
        parameters = tuple(map(_with_python_name, function.parameters))
        arguments = tuple(e for p in parameters for e in _operands(p, code, function))
        lengths = tuple(_length_lines(parameters, code, function.span))
        code = replace(code, lines=(*lengths, *code.lines))
        inline_c = ir.InlineC(code, arguments, function.external_code.is_pure, function.span)
        return replace(function, parameters=parameters, body=(inline_c,), external_code=None)
    if not function.external_code.has_python_body:
        target, option = _TARGET_OPTIONS[dialect]
        fail(
            "inline-c",
            Label(function.span, f"{function.python_name} has no code for {target}"),
            hint=f"give it a Python body, or {option}",
        )
    return replace(function, external_code=None)


def _with_python_name(p: ir.Parameter) -> ir.Parameter:
    """Return the parameter with its Python name; the body may have converted it."""
    return replace(p, name=p.name.split(".")[0])


def _operands(p: ir.Parameter, code: DialectCode, function: ir.Function) -> Iterator[ir.Expr]:
    """Yield the operands that the C text names: the parameter, its lengths and strides."""
    span = function.span
    var = ir.Var(p.name, p.type, span)
    if p.name in code.identifiers:
        yield var
    if not isinstance(p.type, Array) or p.type.shape is not None:
        return
    unbound = code.identifiers - {q.name for q in function.parameters}
    for axis in range(p.type.ndim):
        if length_name(p.name, p.type.ndim, axis) in unbound:
            yield ir.Dim(var, axis, span, int64)
        if stride_name(p.name, axis) in unbound:
            yield ir.Stride(var, axis, span, int64)


def _length_lines(
    parameters: tuple[ir.Parameter, ...], code: DialectCode, span: Span
) -> Iterator[CodeLine]:
    """Yield constants for the lengths and strides of shared and local arrays."""
    unbound = code.identifiers - {p.name for p in parameters}
    for p in parameters:
        if not isinstance(p.type, Array) or p.type.shape is None:
            continue
        for axis, length in enumerate(p.type.shape):
            stride = math.prod(p.type.shape[axis + 1 :])
            length_of_axis = length_name(p.name, p.type.ndim, axis)
            for name, value in ((length_of_axis, length), (stride_name(p.name, axis), stride)):
                if name in unbound:
                    yield CodeLine(f"const {_INDEX_TYPES[code.dialect]} {name} = {value};", span)
