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
from pycu2c.base.values import Number, as_vector, bfloat16_bits, convert


def split_components(parameters: Sequence[Parameter], values: Sequence[Any]) -> list[Any]:
    """Split complex numbers and vectors into components; convert bfloat16 to its bits."""
    out: list[Any] = []
    for parameter, value in zip(parameters, values):
        out += _components(parameter, value)
    return out


def _components(parameter: Parameter, value: Any) -> tuple[Any, ...]:
    parameter_type = parameter.type
    if parameter.part is not ArgumentPart.VALUE or not isinstance(parameter_type, Scalar):
        return (value,)
    if parameter_type.dtype.is_vector:
        components = tuple(component.item() for component in as_vector(value, parameter_type.dtype))
        is_bfloat16 = parameter_type.dtype.fields[0].dtype is dtypes.BFLOAT16
        return tuple(map(bfloat16_bits, components)) if is_bfloat16 else components
    if parameter_type.dtype.is_complex:
        number = complex(value)
        return number.real, number.imag
    if parameter_type.dtype is dtypes.BFLOAT16:
        return (bfloat16_bits(float(value)),)
    return (value,)


def convert_argument(parameter: Parameter, value: Number) -> Number:
    """Convert a number to the type of its parameter. Raises LaunchError if it does not fit."""
    if parameter.part is not ArgumentPart.VALUE or parameter.type.dtype.fields:
        return value
    assert isinstance(parameter.type, Scalar)
    python_value: bool | int | float = value.item() if isinstance(value, np.generic) else value
    dtype = parameter.type.dtype
    if not dtype.is_integer:
        number = convert(_as_float(python_value), Scalar(dtype))
        return bool(number) if dtype.kind is DTypeKind.BOOL else float(number)
    is_fraction = python_value != python_value // 1  # also true for NaN
    if is_fraction or not dtype.minimum <= python_value <= dtype.maximum:
        hint = (
            f": pass numpy.uint64({python_value})"
            if 0 < python_value <= dtypes.UINT64.maximum
            else ""
        )
        raise LaunchError(f"{parameter.name} is {dtype}, which cannot hold {python_value}{hint}")
    return int(python_value)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an int that exceeds the range of float64
        return math.inf if value > 0 else -math.inf
