"""Operations on the values of a kernel, as functions of one signature.

Values of strong types are NumPy scalars, ``Vector`` and ``numpy.void`` (records); those of weak
types are Python numbers, or NumPy scalars if they have fewer bits (``weak_float="float32"``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, DType, DTypeKind
from pycu2c.base.types import WEAK_BOOL, Scalar, Type
from pycu2c.base.values import as_vector, convert
from pycu2c.base.vectors import vector
from pycu2c.interpreter.memory import AccessLocation, field_of, out_of_bounds_error
from pycu2c.ops.intrinsics.memory.subscripts import index_from_end
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import Operator, UnaryOperator

Function: TypeAlias = Callable[..., Any]

_PYTHON_NUMBERS = {BOOL: bool, INT64: int, FLOAT64: float, COMPLEX128: complex}
_INT64_LIMIT = 1 << 63


def stored_type(scalar: Scalar) -> Scalar:
    """Return the type with which values are stored: weak types of fewer bits are strong."""
    is_python_number = not scalar.weak or scalar.dtype in _PYTHON_NUMBERS
    return scalar if is_python_number else Scalar(scalar.dtype)


@cache
def converter(to: Type) -> Function:
    """Return the conversion of a value to a type; of other types than numbers, the identity."""
    if not isinstance(to, Scalar) or to.dtype.kind in (DTypeKind.RECORD, DTypeKind.SUBARRAY):
        return lambda value: value
    if to == WEAK_BOOL:
        return bool
    target = stored_type(to)
    if target.weak and target.dtype is INT64:
        return lambda value: (
            value
            if type(value) is int and -_INT64_LIMIT <= value < _INT64_LIMIT
            else convert(value, target)
        )
    if target.dtype.is_vector or target.dtype.handle is not None:
        return lambda value: convert(value, target)
    number_class = _PYTHON_NUMBERS[target.dtype] if target.weak else target.dtype.numpy.type
    return lambda value: value if type(value) is number_class else convert(value, target)


def zero(of: Scalar) -> Any:
    """Return the value of a variable to which nothing was assigned."""
    if of.dtype.kind in (DTypeKind.RECORD, DTypeKind.SUBARRAY):
        return np.zeros((), of.dtype.numpy)[()]
    return converter(of)(0)


@cache
def binary(op: Operator, result: Scalar) -> Function:
    compute, finish = op.compute, converter(result)
    return lambda a, b: finish(compute(a, b))


@cache
def unary(op: UnaryOperator, result: Scalar) -> Function:
    compute, finish = op.compute, converter(result)
    return lambda a: finish(compute(a))


@cache
def pack(of: Scalar) -> Function:
    """Return the constructor of a record, vector or complex number from its fields."""
    dtype = of.dtype
    if dtype.is_vector:
        return lambda *parts: vector(dtype, parts)
    if dtype.is_complex:
        finish = converter(of)
        return lambda real, imag: finish(complex(real, imag))
    return partial(_packed, dtype)


def _packed(dtype: DType, *parts: Any) -> Any:
    """Return a record, or an array that is a field of one."""
    packed: Any = np.zeros((), dtype.numpy)
    for key, part in zip([f.name for f in dtype.fields] or range(len(parts)), parts):
        packed[key] = part
    return packed[()]


@cache
def member(name: str, of: Scalar) -> Function:
    """Return the function that reads a field of a record, vector or complex number."""
    if of.dtype.is_vector:
        return lambda value: as_vector(value[name], of.dtype)
    finish = converter(of)
    return lambda value: finish(field_of(value, name))


def item(of: Scalar, location: AccessLocation) -> Function:
    """Return the function that reads an element of a field that is an array."""
    finish = converter(of)

    def read(value: Any, index: Any) -> Any:
        try:
            return finish(value[index])
        except IndexError as error:
            raise out_of_bounds_error(error, location) from None

    return read


def apply(intrinsic: Intrinsic, result: Type, location: AccessLocation) -> Function:
    """Return the function that evaluates an intrinsic by its reference semantics."""
    if intrinsic is index_from_end:
        return _checked_index(location)
    reference, finish = intrinsic.reference, converter(result)

    def call(*arguments: Any) -> Any:
        try:
            return finish(reference(*arguments))
        except IndexError as error:
            raise out_of_bounds_error(error, location) from None

    return call


def _checked_index(location: AccessLocation) -> Function:
    """Return the function from an index of a view or tuple to one from the start."""

    def from_start(index: Any, length: Any) -> Any:
        if -int(length) <= int(index) < int(length):
            return index + length if index < 0 else index
        text = f"index {index} is out of bounds for axis 0 with size {length}"
        raise out_of_bounds_error(IndexError(text), location)

    return from_start
