"""Evaluate constant expressions for the oracle, with exact Python ints.

``2**64 - 1`` is a constant, because its operands are: Python computes it before conversion to a
type.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from pycu2c.base.records import dataclass
from pycu2c.base.values import scalar_of
from pycu2c.ops.constant_folding import fold_binary, fold_unary
from pycu2c.ops.operators import BINARY_BY_NODE, FLOORDIV, MOD, UNARY_BY_NODE
from support.ast_interpreter import operators as operators


def _folded_divmod(a: int, b: int) -> tuple[Any, Any]:
    return fold_binary(FLOORDIV, a, b), fold_binary(MOD, a, b)


# functions that return exact ints of any size
_ROUNDING_FUNCTIONS = (math.ceil, math.floor, math.trunc)
_EXACT_FUNCTIONS: tuple[tuple[object, Callable[..., Any]], ...] = (
    (divmod, _folded_divmod),
    *((f, f) for f in (sum, min, max, abs, int, len, *_ROUNDING_FUNCTIONS)),
)


@dataclass(frozen=True, slots=True)
class ConstantFolder:
    """Folds expressions; ``static_object`` returns the object that an expression names."""

    static_object: Callable[[ast.expr], Any]

    def fold(self, node: ast.expr) -> Any:
        """Return the number of a constant expression, or None."""
        match node:
            case ast.UnaryOp(op=op, operand=operand):
                value = self.fold(operand)
                if value is None or isinstance(op, ast.Not):
                    return None if value is None else not value
                return fold_unary(UNARY_BY_NODE[type(op)], value)
            case ast.BinOp(left=left, op=op, right=right):
                return self._fold_operator(self.fold(left), op, self.fold(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                test_value = self.fold(test)
                return None if test_value is None else self.fold(body if test_value else orelse)
            case ast.Call() | ast.Subscript():
                value = self._result(node)
                return value if scalar_of(value) is not None else None
            case _:
                value = self.static_object(node)
                return value if scalar_of(value) is not None else None

    def _fold_operator(self, a: Any, op: ast.operator, b: Any) -> Any:
        if a is None or b is None:
            return None
        if isinstance(op, ast.Pow) and not isinstance(b, complex) and b < 0:
            return operators.power_of_constant(a, b)
        return fold_binary(BINARY_BY_NODE[type(op)], a, b)

    def _result(self, node: ast.expr) -> Any:
        """Return the result of a call, or an item of a tuple."""
        match node:
            case ast.Call() if power := self.power(node):
                return self.fold(power)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._fold_call(
                    self.static_object(function), [self._argument_value(a) for a in arguments]
                )
            case ast.Subscript(value=owner, slice=index):
                items, position = self._argument_value(owner), self._argument_value(index)
                is_item = isinstance(items, tuple) and type(position) is int
                return items[position] if is_item and -len(items) <= position < len(items) else None
            case _:
                return None

    def _fold_call(self, target: object, arguments: list[Any]) -> Any:
        function = next((compute for f, compute in _EXACT_FUNCTIONS if f is target), None)
        if function is None or not arguments or None in arguments:
            return None
        try:
            return function(*arguments)
        except (TypeError, ValueError):  # not an error if the call is in a branch that is not taken
            return None

    def _argument_value(self, node: ast.expr) -> Any:
        """Return a constant int or string, or a tuple of these."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = tuple(map(self._argument_value, items))
                return None if None in values else values
            case _:
                value = self.static_object(node)
                if not isinstance(value, tuple | str):
                    is_computed = isinstance(node, ast.Call | ast.Subscript)
                    value = self._result(node) if is_computed else self.fold(node)
                return value if _is_foldable(value) else None

    def power(self, node: ast.Call) -> ast.BinOp | None:
        """Return ``pow(x, n)`` as an operator node, or None."""
        if self.static_object(node.func) is not pow or len(node.args) != 2:
            return None
        return ast.BinOp(node.args[0], ast.Pow(), node.args[1])


def _is_foldable(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_foldable, value))
    return type(value) in (int, str)
