"""Convert numbers that ``struct`` cannot pack, or that do not have the type of their parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.types import Scalar
from pycu2c.base.values import Number, as_vector, convert


def spread(parameters: Sequence[Parameter], values: Sequence[Any]) -> list[Any]:
    """Split complex numbers and vectors into components; convert bfloat16 to its bits."""
    out: list[Any] = []
    for parameter, value in zip(parameters, values):
        out += _parts(parameter, value)
    return out


def _parts(parameter: Parameter, value: Any) -> tuple[Any, ...]:
    kind = parameter.type
    if parameter.part is not ArgumentPart.VALUE or not isinstance(kind, Scalar):
        return (value,)
    if kind.dtype.is_vector:
        parts = tuple(part.item() for part in as_vector(value, kind.dtype))
        of_bits = kind.dtype.fields[0].dtype is dtypes.BFLOAT16
        return tuple(map(_bits_of_bfloat16, parts)) if of_bits else parts
    if kind.dtype.is_complex:
        number = complex(value)
        return number.real, number.imag
    if kind.dtype is dtypes.BFLOAT16:
        return (_bits_of_bfloat16(float(value)),)
    return (value,)


def _bits_of_bfloat16(value: float) -> int:
    """Return the upper half of a float32, rounded to nearest even."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def convert_argument(parameter: Parameter, value: Number) -> Number:
    """Convert a number to the type of its parameter. Raises LaunchError if it does not fit."""
    if parameter.part is not ArgumentPart.VALUE or parameter.type.dtype.fields:
        return value
    assert isinstance(parameter.type, Scalar)
    plain: bool | int | float = value.item() if isinstance(value, np.generic) else value
    dtype = parameter.type.dtype
    if not dtype.is_integer:
        number = convert(_as_float(plain), Scalar(dtype))
        return bool(number) if dtype.kind is DTypeKind.BOOL else float(number)
    if (
        plain != plain // 1 or not dtype.minimum <= plain <= dtype.maximum
    ):  # NaN differs from itself
        hint = f": pass numpy.uint64({plain})" if 0 < plain <= dtypes.UINT64.maximum else ""
        raise LaunchError(f"{parameter.name} is {dtype}, which cannot hold {plain}{hint}")
    return int(plain)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an int that exceeds the range of float64
        return math.copysign(math.inf, value > 0 or -1)
