"""Fold operators of constants: Python's ints are exact, other numbers wrap and round.

The front end and the IR builders fold with these functions, and the reference interpreter as well.
"""

from __future__ import annotations

import operator
from typing import Any

from pycu2c.base.values import Number
from pycu2c.ops.operators import (
    ADD,
    AND,
    FLOORDIV,
    MOD,
    MUL,
    NOT,
    OR,
    POW,
    SHL,
    SHR,
    SUB,
    XOR,
    Operator,
    UnaryOperator,
)

_MAX_BITS = 1023  # of an int constant, so that float64 can represent its magnitude
_EXACT_OPERATORS = (ADD, SUB, MUL, FLOORDIV, MOD, AND, OR, XOR)


def fold_binary(op: Operator, a: Number, b: Number) -> Number:
    """Fold ``a op b`` of constants; Python's ints are exact, so ``2**64 - 1`` fits a uint64."""
    exact = _exact_result(op, int(a), int(b)) if _are_python_ints(a, b) else None
    return op.reference(a, b) if exact is None else exact


def _are_python_ints(a: Number, b: Number) -> bool:
    """Return whether one constant is a Python int, and the other an int or bool."""
    return int in (type(a), type(b)) and isinstance(a, int) and isinstance(b, int)


def _exact_result(op: Operator, a: Any, b: Any) -> int | None:
    if op in (FLOORDIV, MOD) and b == 0:
        return None
    if op in (POW, SHL, SHR) and b < 0:
        return None
    if op not in (*_EXACT_OPERATORS, POW, SHL, SHR) or _is_huge(op, a, b):
        return None
    value: int = {POW: operator.pow, SHL: operator.lshift, SHR: operator.rshift}.get(
        op, op.compute
    )(a, b)
    return value if value.bit_length() <= _MAX_BITS else None


def _is_huge(op: Operator, a: int, b: int) -> bool:
    """Return whether a result has too many bits to compute."""
    if op is SHL:
        return b > _MAX_BITS
    return op is POW and abs(a) > 1 and b > _MAX_BITS


def is_too_wide(op: Operator, a: Any, b: Any) -> bool:
    """Return whether ``a op b`` of Python ints has more bits than a constant may have."""
    ints = _are_python_ints(a, b) and op in (ADD, SUB, MUL, POW, SHL)
    return ints and not (op in (POW, SHL) and b < 0) and _exact_result(op, a, b) is None


def fold_unary(op: UnaryOperator, a: Number) -> Number:
    """Fold ``op a`` of a constant, exact for Python's ints."""
    value: Number = op.compute(a) if type(a) is int and op is not NOT else op.reference(a)
    return value
