"""Evaluate expressions for every thread of a block, where only the thread index determines them.

``cuda.threadIdx.x // 32`` in blocks of 64 threads -> 32 times 0, then 32 times 1.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from pycu2c.analysis.ranges.interval_arithmetic import is_integral
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.base.values import Number, convert
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import constant_value, scalar_type
from pycu2c.ops import operators as ops
from pycu2c.ops.constant_folding import fold_binary, fold_unary
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, WARP, Thread
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index

_COORDINATES = (
    linear_thread_index,
    *(COORDINATES[v, axis] for v in ("threadIdx", "blockDim") for axis in AXES),
)

# exact Python integer arithmetic; some operators only for operands >= 0
_EXACT_OPERATORS: Mapping[ops.Operator, Callable[[Any, Any], Any]] = {
    op: op.compute
    for op in (
        ops.ADD,
        ops.SUB,
        ops.MUL,
        ops.AND,
        ops.OR,
        ops.XOR,
        ops.LT,
        ops.LE,
        ops.GT,
        ops.GE,
        ops.EQ,
        ops.NE,
    )
} | {ops.C_DIV: operator.floordiv, ops.C_REM: operator.mod, ops.C_SHR: operator.rshift}
_NONNEGATIVE_ONLY = (ops.C_DIV, ops.C_REM, ops.C_SHR)

Values = tuple[Any, ...]  # one number per thread, in thread order


@dataclass(slots=True)
class ThreadValues:
    """Values of expressions for each thread of a block with the shape ``block``.

    ``definitions`` holds the expressions assigned to each variable.
    """

    block: tuple[int, int, int] | None
    definitions: Mapping[str, tuple[ir.Expr, ...]]
    _variable_cache: dict[str, Values | None] = field(default_factory=dict)
    _cache: dict[ir.Expr, Values | None] = field(default_factory=dict)

    def is_warp_uniform(self, e: ir.Expr) -> bool:
        """Return whether all threads of each warp provably compute the same value."""
        values = self.of(e)
        if values is None:
            return False
        return all(len(set(values[i : i + WARP])) == 1 for i in range(0, len(values), WARP))

    def varies(self, e: ir.Expr) -> bool:
        """Return whether two threads of the block provably compute different values."""
        values = self.of(e)
        return values is not None and len(set(values)) > 1

    def contiguous_threads(self, e: ir.Expr, threads: range) -> range | None:
        """Return the subrange of ``threads`` for which a condition holds.

        Returns None if the condition is unknown or the threads are not contiguous.
        """
        values = self.of(e)
        if values is None or threads.stop > len(values):
            return None
        result = [t for t in threads if values[t]]
        if not result:
            return range(threads.start, threads.start)
        hull = range(result[0], result[-1] + 1)
        return hull if len(hull) == len(result) else None

    def of(self, e: ir.Expr) -> Values | None:
        """Return the value for each thread, or None if the thread index does not determine it."""
        if e not in self._cache:
            self._cache[e] = self._compute(e)
        return self._cache[e]

    def _compute(self, e: ir.Expr) -> Values | None:
        match e:
            case ir.Const():
                return (_to_python(constant_value(e)),) * (
                    math.prod(self.block) if self.block else 1
                )
            case ir.Var():
                return self._variable(e.name)
            case ir.Apply(intrinsic=coordinate) if coordinate in _COORDINATES:
                return None if self.block is None else _coordinate_values(coordinate, self.block)
            case ir.Unary():
                operand_values = self.of(e.operand)
                source = scalar_type(e.operand)
                return operand_values and tuple(
                    _to_python(fold_unary(e.op, _typed(v, source))) for v in operand_values
                )
            case ir.Cast():
                operand_values = self.of(e.operand)
                return operand_values and _convert(operand_values, scalar_type(e.operand), e.type)
            case ir.Binary():
                left = self.of(e.left)
                right = self.of(e.right) if left else None
                return right and _binary(e, left or (), right)
            case ir.Logical():
                return self._logical(e)
            case _:
                return None

    def _variable(self, name: str) -> Values | None:
        if name not in self._variable_cache:
            self._variable_cache[name] = None  # guards against recursive definitions
            values = self.definitions.get(name, ())
            self._variable_cache[name] = self.of(values[0]) if len(values) == 1 else None
        return self._variable_cache[name]

    def _logical(self, e: ir.Logical) -> Values | None:
        left = self.of(e.left)
        right = self.of(e.right) if left else None
        if left is None or right is None:
            return None
        combine = all if e.op is ir.LogicalOp.AND else any
        return tuple(combine(pair) for pair in zip(left, right))


# ---- all threads at once: integers as Python ints (fast), other numbers as NumPy scalars --------


def _to_python(value: Number) -> Number:
    return int(value) if isinstance(value, np.integer | np.bool_ | bool) else value


def _typed(value: Number, source: Scalar) -> Number:
    """Return the operand of constant folding: a NumPy scalar, but a Python int for a weak int."""
    return value if source == WEAK_INT else convert(value, source)


def _convert(values: Values, source: Scalar, target: Scalar) -> Values:
    if is_integral(source) and is_integral(target) and _all_fit(values, target):
        return values
    return tuple(_to_python(convert(_typed(v, source), target)) for v in values)


def _binary(e: ir.Binary, left: Values, right: Values) -> Values:
    source = scalar_type(e.left)
    exact = _EXACT_OPERATORS.get(e.op) if is_integral(source) else None
    if exact is not None and (e.op not in _NONNEGATIVE_ONLY or (min(left) >= 0 and min(right) > 0)):
        values = tuple(map(exact, left, right))
        if _all_fit(values, e.type):
            return values
    pairs = zip(left, right)
    return tuple(
        _to_python(fold_binary(e.op, _typed(a, source), _typed(b, source))) for a, b in pairs
    )


def _all_fit(values: Values, target: Scalar) -> bool:
    return bool(target.dtype.minimum <= min(values) and max(values) <= target.dtype.maximum)


@functools.lru_cache(maxsize=64)
def _coordinate_values(coordinate: Intrinsic, block: tuple[int, int, int]) -> Values:
    """Return the value of a coordinate for each thread of the block."""
    if coordinate is linear_thread_index:
        return tuple(range(math.prod(block)))
    width, height, depth = block
    result: list[Number] = []
    for z, y, x in product(range(depth), range(height), range(width)):
        REFERENCE_STATE.thread = Thread((x, y, z), (0, 0, 0), block, (1, 1, 1))
        result.append(coordinate.reference())
    REFERENCE_STATE.thread = None
    return tuple(result)
