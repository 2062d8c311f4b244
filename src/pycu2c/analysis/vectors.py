"""Arithmetic on vectors of integers: one number for each thread; None where they are unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pycu2c.analysis.ranges.interval_arithmetic import is_integral
from pycu2c.base.types import Scalar, Type
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.memory.subscripts import from_start, index_from_end
from pycu2c.ops.intrinsics.registry import Intrinsic

Vector: TypeAlias = "npt.NDArray[np.int64] | None"  # without axes if all threads have one number
Mask: TypeAlias = "npt.NDArray[np.bool_]"  # whether a thread is one of a set
T = TypeVar("T")
_LARGE = 1 << 31  # products of numbers below do not overflow


def coordinate(threads: Any, block: tuple[int, int, int], axis: int) -> Any:
    """Return the index of threads along an axis of their block, from their linear indices."""
    width, height, _ = block
    rows = threads // width
    return (threads % width, rows % height, rows // height)[axis]


def binary(op: ops.Operator, a: Vector, b: Vector, result: Type) -> Vector:
    """Return the results of an operator; None if one may not be exact."""
    compute = _BINARY.get(op)
    if compute is None or a is None or b is None or not (_is_small(a) and _is_small(b)):
        return None
    return of_type(compute(a, b), result)


def unary(op: ops.UnaryOperator, a: Vector, result: Type) -> Vector:
    compute = _UNARY.get(op)
    return None if compute is None or a is None or not _is_small(a) else of_type(compute(a), result)


def apply(operation: Intrinsic, arguments: list[Vector]) -> Vector:
    """Return the results of an intrinsic without effects; None if it is unknown."""
    compute = _INTRINSICS.get(operation.name)
    is_known = compute is not None and all(a is not None for a in arguments)
    result: Vector = compute(*arguments) if compute is not None and is_known else None
    return result


def of_type(a: Vector, kind: Type) -> Vector:
    """Return numbers that are values of an integer type; None if some are not."""
    if a is None or not isinstance(kind, Scalar) or not is_integral(kind) or not a.size:
        return None
    if kind.dtype.size == 8 and kind.dtype.is_signed:
        return a
    is_exact = kind.dtype.minimum <= a.min() and a.max() <= kind.dtype.maximum
    return a if is_exact else None


def _is_small(a: npt.NDArray[np.int64]) -> bool:
    return not a.size or bool(a.min() >= -_LARGE and a.max() <= _LARGE)


def _divide(compute: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a division that is 0 where the divisor is."""
    return lambda a, b: np.where(b == 0, 0, compute(a, np.where(b == 0, 1, b)))


def _shift(compute: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def shifted(a: Any, b: Any) -> Any:
        return compute(a, b) if np.all((b >= 0) & (b < 32)) else None

    return shifted


def _unsigned(compute: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return an operator of C as that of Python, which is the same for numbers of at least 0."""
    return lambda a, b: compute(a, b) if np.all((a >= 0) & (b >= 0)) else None


def _compare(compute: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: compute(a, b).astype(np.int64)


_BINARY: Mapping[ops.Operator, Callable[[Any, Any], Any]] = {
    ops.ADD: np.add,
    ops.SUB: np.subtract,
    ops.MUL: np.multiply,
    ops.AND: np.bitwise_and,
    ops.OR: np.bitwise_or,
    ops.XOR: np.bitwise_xor,
    ops.FLOORDIV: _divide(np.floor_divide),
    ops.MOD: _divide(np.mod),
    ops.SHL: _shift(np.left_shift),
    ops.SHR: _shift(np.right_shift),
    ops.C_DIV: _unsigned(_divide(np.floor_divide)),
    ops.C_REM: _unsigned(_divide(np.mod)),
    ops.C_SHR: _unsigned(_shift(np.right_shift)),
    ops.LT: _compare(np.less),
    ops.LE: _compare(np.less_equal),
    ops.GT: _compare(np.greater),
    ops.GE: _compare(np.greater_equal),
    ops.EQ: _compare(np.equal),
    ops.NE: _compare(np.not_equal),
}
_UNARY: Mapping[ops.UnaryOperator, Callable[[Any], Any]] = {
    ops.NEG: np.negative,
    ops.POS: np.positive,
    ops.INVERT: np.invert,
    ops.NOT: lambda a: (a == 0).astype(np.int64),
}
_INTRINSICS: Mapping[str, Callable[..., Any]] = {
    "min": np.minimum,
    "max": np.maximum,
    "abs": np.abs,
    from_start.name: lambda index: index,
    index_from_end.name: lambda index, length: np.where(index < 0, index + length, index),
}
