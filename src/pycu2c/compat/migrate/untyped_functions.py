"""Report where a kernel without a signature may compute in other types than numba.

The types are guessed from the syntax: arrays and numbers are float32, and what is part of an index
is an int64. For these types, ``type_differences`` finds the differences.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from pycu2c.base.diagnostics import CompileError, Label
from pycu2c.base.types import Signature
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.compat.migrate.text_edits import EditableText
from pycu2c.compat.migrate.type_differences import differences
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel

_HINT = (
    "write float64(…) where precision matters; a signature or `--types` gives a more precise report"
)
_INTEGER_OPERATORS = (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr)


def possible_differences(
    text: EditableText,
    kernel: Kernel[Any],
    node: ast.FunctionDef,
    global_number: Callable[[str], object],
) -> Iterator[Remark]:
    """Yield a remark for each location, with one topic per function.

    Where the guess does not compile, a function with Python floats gets one remark.
    """
    try:
        module = kernel.launcher.compiler.build(_guessed_signature(node)).module
    except CompileError:  # the arguments have other types
        if any(isinstance(e, ast.Constant) and isinstance(e.value, float) for e in ast.walk(node)):
            label = Label(text.span(node), "with these Python floats; the types are unknown")
            yield Remark(remarks.UNTYPED, (label,), _HINT, node.name)
        return
    for remark in differences(module, text.file, global_number):
        if remark.kind is remarks.FLOAT64:
            label = Label(remark.labels[0].span)
            yield Remark(remarks.UNTYPED, (label,), _HINT, node.name)


def _guessed_signature(node: ast.FunctionDef) -> Signature:
    ranks, integers = _ranks(node), _integers(node)
    types: list[str] = []
    for parameter in (*node.args.posonlyargs, *node.args.args):
        element = "int64" if parameter.arg in integers else "float32"
        rank = ranks.get(parameter.arg, 0)
        types.append(f"{element}[{', '.join(':' * rank)}]" if rank else element)
    return parse_signature(f"void({', '.join(types)})")


def _ranks(node: ast.FunctionDef) -> dict[str, int]:
    """Return the number of axes of the arrays that a function accesses."""
    ranks: dict[str, int] = {}
    for part in ast.walk(node):
        match part:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                count = len(index.elts) if isinstance(index, ast.Tuple) else 1
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int(axis)),
            ):
                count = axis + 1
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "size"):
                count = 1
            case _:
                continue
        ranks[name] = max(count, ranks.get(name, 0))
    return ranks


def _integers(node: ast.FunctionDef) -> set[str]:
    """Return the variables that are part of indices, of ranges or of integer operations."""
    integers: set[str] = set()
    values: dict[str, set[str]] = {}
    for part in ast.walk(node):
        match part:
            case ast.Subscript(slice=index):
                integers |= _names(index)
            case ast.Call(func=ast.Name(id="range")):
                integers |= _names(part)
            case ast.BinOp(op=op) if isinstance(op, _INTEGER_OPERATORS):
                integers |= _names(part)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values.setdefault(name, set()).update(_names(value))
    pending = list(integers)
    while pending:
        new = values.get(pending.pop(), set()) - integers
        integers |= new
        pending += new
    return integers


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
