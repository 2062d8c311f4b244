"""Report the kernels whose numbers have 64 bits in numba and the width of the data in pycu2c."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.import_bindings import NumbaNames
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.compat.migrate.text_edits import EditableText

_DECORATORS = ("numba.cuda.jit", "numba.cuda.decorators.jit")
_SMALL_INTEGERS = re.compile(r"\b(u?int(8|16)|[ui][12])\b")
_FLOAT_HINT = "write float64(…) where precision matters, or float32(…) to confirm the type"
_INTEGER_HINT = "convert an operand where a result may be larger: int32(…), or int64(…)"


def number_types(text: EditableText, tree: ast.Module, names: NumbaNames) -> Iterator[Remark]:
    """Yield the remarks for the decorated kernels of a file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            jit = decorator.func if isinstance(decorator, ast.Call) else decorator
            if names.path(jit) not in _DECORATORS:
                continue
            if _SMALL_INTEGERS.search(ast.unparse(decorator)):
                label = Label(text.span(decorator))
                yield Remark(remarks.SMALL_INTEGERS, (label,), _INTEGER_HINT, node.name)
            for number in _unconverted_floats(node):
                label = Label(text.span(number))
                yield Remark(remarks.FLOAT64, (label,), _FLOAT_HINT, node.name)


def _unconverted_floats(node: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the literals of floats, without those that a call or a store to an element converts."""
    converted: set[ast.expr] = set()
    for part in ast.walk(node):
        match part:
            case ast.Call(args=arguments):  # float32(0.5)
                converted |= {*arguments}
            case ast.Assign(targets=[ast.Subscript()], value=value):  # a[i] = 0.5
                converted.add(value)
    for statement in node.body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Constant) and isinstance(part.value, float):
                if part not in converted:
                    yield part
