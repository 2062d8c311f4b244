"""Functions that are operators under another name: ``np.add``, ``operator.add``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c.ops import operators as rows
from pycu2c.ops.operators import Operator, UnaryOperator

# ``np.mod`` is ``np.remainder``, ``np.divide`` is ``np.true_divide``, and so on: one object each
FUNCTIONS: tuple[tuple[Operator | UnaryOperator, tuple[Any, ...]], ...] = (
    (rows.ADD, (np.add, operator.add)),
    (rows.SUB, (np.subtract, operator.sub)),
    (rows.MUL, (np.multiply, operator.mul)),
    (rows.DIV, (np.true_divide, operator.truediv)),
    (rows.FLOORDIV, (np.floor_divide, operator.floordiv)),
    (rows.MOD, (np.remainder, operator.mod)),
    (rows.POW, (np.power,)),
    (rows.SHL, (np.left_shift, operator.lshift)),
    (rows.SHR, (np.right_shift, operator.rshift)),
    (rows.AND, (np.bitwise_and, operator.and_)),
    (rows.OR, (np.bitwise_or, operator.or_)),
    (rows.XOR, (np.bitwise_xor, operator.xor)),
    (rows.LT, (np.less, operator.lt)),
    (rows.LE, (np.less_equal, operator.le)),
    (rows.GT, (np.greater, operator.gt)),
    (rows.GE, (np.greater_equal, operator.ge)),
    (rows.EQ, (np.equal, operator.eq)),
    (rows.NE, (np.not_equal, operator.ne)),
    (rows.NEG, (np.negative, operator.neg)),
    (rows.POS, (np.positive, operator.pos)),
    (rows.INVERT, (np.invert, operator.invert)),
    (rows.NOT, (np.logical_not, operator.not_)),
)

_BY_FUNCTION = {id(f): row for row, functions in FUNCTIONS for f in functions}


def operator_named(value: object) -> Operator | UnaryOperator | None:
    """The operator that a function of numpy's or of Python's ``operator`` stands for."""
    return _BY_FUNCTION.get(id(value))
