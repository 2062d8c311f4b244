"""Device functions that are C of the user's on a target become that C; on others they are their
Python bodies."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import InlineCode, length_name, stride_name
from pycu2c.base.records import replace
from pycu2c.base.types import Array, int64
from pycu2c.ir.call_graph import transitive_callees
from pycu2c.ir.nodes import Dim, Expr, Function, InlineC, Module, Parameter, Stride, Var
from pycu2c.ir.walk import map_functions

_TARGETS = {"cuda": ("CUDA", 'cuda="…"'), "c": ("the CPU", 'cpu="…"')}


def take_own_c(module: Module, dialect: str) -> Module:
    """``in c: return x / y;`` beside a body -> the text alone; without one, the body alone. What
    then nothing calls goes."""
    chosen = map_functions(module, lambda f: _chosen(f, dialect))
    needed = transitive_callees((*chosen.devices, chosen.kernel))[chosen.kernel.name]
    return replace(chosen, devices=tuple(f for f in chosen.devices if f.name in needed))


def _chosen(function: Function, dialect: str) -> Function:
    if function.external_code is None:
        return function
    code = function.external_code.code(dialect)
    if code is not None:
        parameters = tuple(map(_as_written, function.parameters))
        arguments = tuple(e for p in parameters for e in _read(p, code, function))
        text = InlineC(code, arguments, function.external_code.is_pure, function.span)
        return replace(function, parameters=parameters, body=(text,), external_code=None)
    if not function.external_code.has_python_body:
        target, option = _TARGETS[dialect]
        fail(
            "own-c",
            Label(function.span, f"{function.python_name} has no code for {target}"),
            help=f"give it a Python body, or {option}",
        )
    return replace(function, external_code=None)


def _as_written(p: Parameter) -> Parameter:
    """The parameter by its Python name: a body may have converted it first."""
    return replace(p, name=p.name.split(".")[0])


def _read(p: Parameter, code: InlineCode, function: Function) -> Iterator[Expr]:
    """What a text names of a parameter: itself, the lengths and strides of an array."""
    span = function.span
    var = Var(p.name, p.type, span)
    if p.name in code.words:
        yield var
    if not isinstance(p.type, Array):
        return
    free = code.words - {q.name for q in function.parameters}
    for axis in range(p.type.ndim):
        if length_name(p.name, p.type.ndim, axis) in free:
            yield Dim(var, axis, span, int64)
        if stride_name(p.name, axis) in free:
            yield Stride(var, axis, span, int64)
