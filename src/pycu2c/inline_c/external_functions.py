"""Generate the declaration and the call of C functions that linked files define."""

from __future__ import annotations

import ast
import linecache
from types import FrameType
from typing import Any, Literal, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import CodeLine, Dialect, DialectCode
from pycu2c.base.source import Source
from pycu2c.base.types import Array, ParameterType, Scalar, Signature
from pycu2c.frontend.calls import declared_signatures
from pycu2c.frontend.calls.declared_signatures import declared_signature
from pycu2c.frontend.scope.bindings import parameters

Abi: TypeAlias = Literal["c", "numba"]

_PROTOTYPE_PREFIX = {"cuda": 'extern "C" __device__ ', "c": "extern "}


def external_stub(name: str, signature: Signature, frame: FrameType) -> Source:
    """Return a Python stub for a function without a Python body, located at the caller's line."""
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not a valid C function name")
    names = ", ".join(f"x{number}" for number in range(len(signature.parameters)))
    (tree,) = ast.parse(f"def {name}({names}): ...").body
    assert isinstance(tree, ast.FunctionDef)
    file, number = frame.f_code.co_filename, frame.f_lineno
    lines = tuple(linecache.getlines(file, frame.f_globals))
    line = lines[number - 1].rstrip() if number <= len(lines) else ""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            position = {
                "lineno": number,
                "end_lineno": number,
                "end_col_offset": len(line.encode()),
            }
            vars(node).update(position, col_offset=len(line) - len(line.lstrip()))
    namespace: dict[str, Any] = {"__name__": frame.f_globals.get("__name__", "")}
    exec(compile(ast.Module([tree], []), file, "exec"), namespace)  # defines the stub only
    return Source(namespace[name], tree, file, lines, signature=signature)


def call_code(
    source: Source, pure: bool, dialect: Dialect, files: tuple[str, ...], abi: Abi = "c"
) -> DialectCode:
    """Return a body that calls the function of this name in linked files, and its declaration.

    ``abi`` is "c", or "numba": it returns a status and stores its result through a pointer, its
    first parameter.
    """
    signature, name, span = _signature(source), source.name, source.span(source.tree)
    names = [p.arg for p in parameters(source.tree.args)]
    c_types = [_c_type(parameter, dialect) for parameter in signature.parameters]
    result = "void"
    if isinstance(signature.result, Scalar):
        result = _c_type(signature.result, dialect)
    if pure:  # a pure function does not write arrays
        c_types = [f"const {c_type}" if c_type.endswith("*") else c_type for c_type in c_types]
    declarations = [_declaration(c_type, n) for c_type, n in zip(c_types, names)]
    c_result, lines = result, _plain_call(name, names, result)
    if abi == "numba":
        c_result, result_name = "int", "own_result"
        declarations = [_declaration(f"{result} *", result_name), *declarations]
        lines = _call_for_status(name, names, result, result_name)
    declared = _declaration(c_result, name)
    prototype = f"{_PROTOTYPE_PREFIX[dialect]}{declared}({', '.join(declarations) or 'void'});"
    body = tuple(CodeLine(line, span) for line in lines)
    return DialectCode(dialect, body, (CodeLine(prototype, span),), files)


def _signature(source: Source) -> Signature:
    """Return the declared types, which are mandatory."""
    signature = declared_signature(source)
    if signature is None or signature.result is None:
        label = Label(source.span(source.tree), "an external function needs a signature")
        hint = f"annotate it: def {source.name}(x: float32) -> float32, or -> None"
        fail("inline-c", label, hint=hint)
    declared_signatures.check_c_types(source, signature.parameters, signature.result)
    return signature


def _plain_call(name: str, arguments: list[str], result: str) -> list[str]:
    call = f"{name}({', '.join(arguments)});"
    return [call if result == "void" else f"return {call}"]


def _call_for_status(name: str, arguments: list[str], result: str, result_name: str) -> list[str]:
    if result == "void":
        return [f"{name}({', '.join(['0', *arguments])});"]
    call = f"{name}({', '.join([f'&{result_name}', *arguments])});"
    return [f"{result} {result_name};", call, f"return {result_name};"]


def _c_type(parameter: ParameterType, dialect: Dialect) -> str:
    assert isinstance(parameter, Scalar | Array)
    name = parameter.dtype.cuda if dialect == "cuda" else parameter.dtype.c
    return f"{name} *" if isinstance(parameter, Array) else name


def _declaration(c_type: str, name: str) -> str:
    return f"{c_type}{name}" if c_type.endswith("*") else f"{c_type} {name}"
