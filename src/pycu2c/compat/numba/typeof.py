"""Implement ``typeof`` and ``from_dtype``: the types of values and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycu2c.base.types import ParameterType, Scalar, default_type
from pycu2c.declarations.signatures import SignatureError, parse_type
from pycu2c.runtime.arguments.flattened_arguments import flatten_arguments


def typeof(val: Any) -> ParameterType:
    """Return the type of an argument: ``float64[::1]`` for ``np.zeros(3)``, ``int64`` for ``1``."""
    (value_type,) = flatten_arguments((val,), ("the value",)).types
    return default_type(value_type)


def from_dtype(dtype: DTypeLike) -> Scalar:
    """Return the element type of a NumPy dtype: a scalar or a record."""
    element_type = parse_type(np.dtype(dtype))
    if not isinstance(element_type, Scalar):
        raise SignatureError(f"{dtype!r} is not an element type")
    return element_type
