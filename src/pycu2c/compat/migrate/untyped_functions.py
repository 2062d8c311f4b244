"""Report where a kernel without a signature may compute in other types than numba.

The analysis is syntactic: it looks for Python numbers combined with values that may be float32.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import numpy as np

from pycu2c.base.diagnostics import Label
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.compat.migrate.text_edits import EditableText

_HINT = (
    "write float64(…) where precision matters; a signature or `--types` gives a more precise report"
)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_ROUNDED_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_INTEGER_CALLS = ("grid", "gridsize", "len", "int", "range", "round")
_INTEGER_NAMES = ("threadIdx", "blockIdx", "blockDim", "gridDim", "shape", "size", "ndim", "laneid")


def possible_differences(
    text: EditableText, node: ast.FunctionDef, global_number: Callable[[str], object]
) -> list[Remark]:
    """Return a remark for each location, with one topic per function."""
    expressions = _UntypedAnalysis(node, global_number).differences()
    return [Remark(remarks.UNTYPED, (Label(text.span(e)),), _HINT, node.name) for e in expressions]


class _UntypedAnalysis:
    def __init__(self, node: ast.FunctionDef, global_number: Callable[[str], object]) -> None:
        self._node, self._global_number = node, global_number
        self._locals = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        self._locals |= {n.id for n in _stored_names(node)}
        self._integers = {name for s in ast.walk(node) if (name := _loop_counter(s))}
        self._accumulators = {name for s in ast.walk(node) if (name := self._accumulator(s))}
        for s in ast.walk(node):
            if isinstance(s, ast.Assign) and self._is_integer(s.value):
                self._integers |= {
                    n.id for target in s.targets for n in _stored_names(target)
                } - self._accumulators

    def _accumulator(self, s: ast.AST) -> str:
        """Return the variable that array elements are added to."""
        match s:
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                return name if self._has_element(value) else ""
            case _:
                return ""

    def differences(self) -> Iterator[ast.expr]:
        """Yield the locations, outermost first."""
        for s in self._node.body:
            yield from self._differences_in(s)

    def _differences_in(self, node: ast.AST) -> Iterator[ast.expr]:
        match node:
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                yield from self._differences_in(target)
                yield from self._stored_value_differences(value)
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if self._float_constant(value) is not None or (
                    name in self._accumulators and isinstance(value, ast.Constant)
                ):
                    yield value
            case ast.AugAssign(target=target, op=op, value=value):
                if self._float_constant(value) is not None and not self._is_rounded_alike(
                    target, op, value
                ):
                    yield value
            case ast.BinOp() if self._is_mixed(node):
                yield node
            case ast.Compare(left=left, comparators=[right]):
                if [self._is_inexact(left), self._is_inexact(right)].count(True) == 1:
                    yield node
            case ast.Subscript(value=value):
                yield from self._differences_in(value)  # indices are integers
                return
        for child in ast.iter_child_nodes(node):
            yield from self._differences_in(child)

    def _stored_value_differences(self, value: ast.expr) -> Iterator[ast.expr]:
        """Yield differences in a stored value; one rounding operation gives the same result."""
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, _ROUNDED_OPERATORS):
            yield from self._differences_in(value)
            return
        sides = (value.left, value.right)
        if any(map(self._is_inexact, sides)) or any(
            any(True for _ in self._differences_in(side)) for side in sides
        ):
            yield from self._differences_in(value)

    def _is_rounded_alike(self, target: ast.expr, op: ast.operator, value: ast.expr) -> bool:
        is_alike = isinstance(op, _ROUNDED_OPERATORS) and not self._is_inexact(value)
        return isinstance(target, ast.Subscript) and is_alike

    # ---- expressions ----

    def _is_mixed(self, e: ast.BinOp) -> bool:
        """Return whether an operand is a Python float and the other one may be a float32.

        Integers combined with array elements count, too.
        """
        if not isinstance(e.op, _ARITHMETIC):
            return False
        for operand, other in ((e.left, e.right), (e.right, e.left)):
            if self._is_integer(other) or self._is_constant(other):
                continue
            if self._float_constant(operand) is not None:
                return True
            is_power = isinstance(e.op, ast.Pow) and operand is e.right  # float32 ** int is float32
            if self._is_integer(operand) and not is_power and self._has_element(other):
                return True
        return False

    def _float_constant(self, e: ast.expr) -> float | None:
        """Return the value of a Python float constant."""
        if isinstance(e, ast.UnaryOp):
            return self._float_constant(e.operand)
        value = e.value if isinstance(e, ast.Constant) else self._global_value(e)
        return value if isinstance(value, float) else None

    def _is_constant(self, e: ast.expr) -> bool:
        """Return whether an expression is constant: float64 in numba and in pycu2c."""
        nodes = list(ast.walk(e))
        called = [ast.unparse(p.func).split(".")[0] for p in nodes if isinstance(p, ast.Call)]
        names = {p.id for p in nodes if isinstance(p, ast.Name)}
        return not names & self._locals and all(
            first in ("math", "np", "numpy") for first in called
        )

    def _is_inexact(self, e: ast.expr) -> bool:
        value = self._float_constant(e)
        return value is not None and float(np.float32(value)) != value

    def _is_integer(self, e: ast.expr) -> bool:
        """Return whether an expression is certainly an integer."""
        match e:
            case ast.Constant(value=value):
                return isinstance(value, int)
            case ast.Name(id=name) if name in self._locals:
                return name in self._integers
            case ast.Name() | ast.Attribute():
                names = isinstance(e, ast.Attribute) and ast.unparse(e).split(".")
                return isinstance(self._global_value(e), int) or bool(
                    names and set(names) & set(_INTEGER_NAMES)
                )
            case ast.Call(func=called):
                return ast.unparse(called).split(".")[-1] in _INTEGER_CALLS
            case ast.Subscript(value=value):
                return isinstance(value, ast.Attribute) and value.attr == "shape"
            case ast.UnaryOp(operand=operand):
                return self._is_integer(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return not isinstance(op, ast.Div) and all(map(self._is_integer, (left, right)))
            case _:
                return False

    def _has_element(self, e: ast.expr) -> bool:
        """Return whether an expression contains an array element outside of indices and calls."""
        match e:
            case ast.Subscript(value=ast.Name(id=name)):
                return name in self._locals
            case ast.Subscript(value=ast.Attribute(attr=attribute)):
                return attribute != "shape"
            case ast.Subscript():
                return True
            case ast.BinOp(left=left, right=right):
                return self._has_element(left) or self._has_element(right)
            case ast.UnaryOp(operand=operand):
                return self._has_element(operand)
            case _:
                return False

    def _global_value(self, e: ast.expr) -> object:
        """Return the number that a global name refers to."""
        if not isinstance(e, (ast.Name, ast.Attribute)):
            return None
        name = ast.unparse(e)
        return None if name.split(".")[0] in self._locals else self._global_number(name)


def _stored_names(node: ast.AST) -> Iterator[ast.Name]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part


def _loop_counter(s: ast.AST) -> str:
    """Return the variable of a loop over a range."""
    match s:
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=called)):
            return name if ast.unparse(called).split(".")[-1] in ("range", "prange") else ""
        case _:
            return ""
