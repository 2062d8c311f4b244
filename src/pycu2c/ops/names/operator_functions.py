"""Functions that denote operators: ``np.add``, ``operator.add``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c.ops import operators as ops
from pycu2c.ops.operators import Operator, UnaryOperator

# ``np.mod`` is ``np.remainder``, ``np.divide`` is ``np.true_divide``, and so on: one object each
FUNCTIONS: tuple[tuple[Operator | UnaryOperator, tuple[Any, ...]], ...] = (
    (ops.ADD, (np.add, operator.add)),
    (ops.SUB, (np.subtract, operator.sub)),
    (ops.MUL, (np.multiply, operator.mul)),
    (ops.DIV, (np.true_divide, operator.truediv)),
    (ops.FLOORDIV, (np.floor_divide, operator.floordiv)),
    (ops.MOD, (np.remainder, operator.mod)),
    (ops.POW, (np.power,)),
    (ops.SHL, (np.left_shift, operator.lshift)),
    (ops.SHR, (np.right_shift, operator.rshift)),
    (ops.AND, (np.bitwise_and, operator.and_)),
    (ops.OR, (np.bitwise_or, operator.or_)),
    (ops.XOR, (np.bitwise_xor, operator.xor)),
    (ops.LT, (np.less, operator.lt)),
    (ops.LE, (np.less_equal, operator.le)),
    (ops.GT, (np.greater, operator.gt)),
    (ops.GE, (np.greater_equal, operator.ge)),
    (ops.EQ, (np.equal, operator.eq)),
    (ops.NE, (np.not_equal, operator.ne)),
    (ops.NEG, (np.negative, operator.neg)),
    (ops.POS, (np.positive, operator.pos)),
    (ops.INVERT, (np.invert, operator.invert)),
    (ops.NOT, (np.logical_not, operator.not_)),
)

_BY_FUNCTION = {id(f): op for op, functions in FUNCTIONS for f in functions}


def operator_named(value: object) -> Operator | UnaryOperator | None:
    """Return the operator that a function of NumPy or of module ``operator`` denotes, or None."""
    return _BY_FUNCTION.get(id(value))
