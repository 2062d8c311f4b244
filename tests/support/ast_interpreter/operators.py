"""Functions that rewritten kernels call for operators, and conversions to common types."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from pycu2c.base.types import WEAK_INT, ParameterType, Scalar, Tuple, promote
from pycu2c.base.values import Number, convert, scalar_of
from pycu2c.ops.operators import BINARY_BY_NODE, EQ, NE, POW, Operator
from support.ast_interpreter.elements import scalar_type, type_of


def with_names_of(original: tuple[Any, ...], items: Sequence[Any]) -> tuple[Any, ...]:
    """Return a tuple of other items with the names of a named tuple."""
    result: tuple[Any, ...] = getattr(type(original), "_make", tuple)(items)
    return result


def common_type(values: Sequence[Any]) -> Scalar:
    return reduce(promote, map(type_of, values))


def coerced(value: Any, target_type: ParameterType) -> Any:
    """Convert a number to the type of its variable, a tuple item by item."""
    if (
        isinstance(target_type, Tuple)
        and isinstance(value, tuple)
        and len(value) == len(target_type.items)
    ):
        return with_names_of(
            value, [coerced(item, item_type) for item, item_type in zip(value, target_type.items)]
        )
    if isinstance(target_type, Scalar) and scalar_of(value):
        return convert(value, target_type)
    return value


def to_variable_type(value: Any) -> Any:
    """Convert ints to 64 bits, also in tuples, for a variable without a type of its own."""
    if isinstance(value, tuple):
        return with_names_of(value, [to_variable_type(item) for item in value])
    return convert(value, WEAK_INT) if type(value) is int else value


# ---- operators -----------------------------------------------------------------------------


def power_of_constant(base: Any, exponent: Any) -> Number:
    """Return a power with a constant exponent; ``int ** -1`` is a float, as in Python."""
    if isinstance(base, int) and not isinstance(exponent, complex) and exponent < 0:
        base = float(base)
    return POW.reference(base, exponent)


def binary_operation(op: Operator) -> Callable[[Any, Any], Any]:
    """Return the function of ``left op right``, which also joins and repeats tuples."""

    def combine(left: Any, right: Any) -> Any:
        if isinstance(left, tuple) or isinstance(right, tuple):
            return op.compute(left, right)
        if isinstance(left, np.ndarray):
            return _elementwise(op, left, right)
        return op.reference(left, right)

    return combine


def _elementwise(op: Operator, left: np.ndarray[Any, Any], right: Any) -> np.ndarray[Any, Any]:
    """Evaluate ``left op= right`` of an array slice."""
    out, others = left.copy(), np.broadcast_to(right, left.shape)
    for index in np.ndindex(left.shape):
        element: Any = left[index]
        other: Any = others[index] if isinstance(right, np.ndarray) else right
        out[index] = convert(op.reference(element, other), scalar_type(left.dtype))
    return out


def comparison(op: type[ast.cmpop]) -> Callable[[Any, Any], bool]:
    """Return the comparison of two values of any kind."""
    if op is ast.Is:
        return lambda a, b: a is b
    if op is ast.IsNot:
        return lambda a, b: a is not b
    if op is ast.In:
        return _is_in
    if op is ast.NotIn:
        return lambda a, b: not _is_in(a, b)
    operator = BINARY_BY_NODE[op]
    return lambda a, b: (
        bool(operator.reference(a, b)) if _are_numbers(a, b) else _compare_objects(operator, a, b)
    )


def _are_numbers(a: Any, b: Any) -> bool:
    return scalar_of(a) is not None and scalar_of(b) is not None


def _compare_objects(op: Operator, a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple) and op in (EQ, NE):
        equal = len(a) == len(b) and all(map(comparison(ast.Eq), a, b))
        return equal is (op is EQ)
    return bool(op.compute(a, b))


def _is_in(value: Any, items: Any) -> bool:
    if isinstance(items, str):
        return value in items
    return any(comparison(ast.Eq)(value, item) for item in items)
