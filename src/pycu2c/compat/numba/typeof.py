"""The types of values and of dtypes, as signatures name them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycu2c.base.types import ParameterType, Scalar, by_itself
from pycu2c.declarations.signatures import BadSignature, parse_type
from pycu2c.runtime.arguments.flattened_arguments import taken_apart


def typeof(val: Any) -> ParameterType:
    """The type of an argument: ``typeof(np.zeros(3))`` is ``float64[::1]``, ``typeof(1)`` int64."""
    (found,) = taken_apart((val,), ("the value",)).types
    return by_itself(found)


def from_dtype(dtype: DTypeLike) -> Scalar:
    """The type of an array's elements, of one number or of a record."""
    found = parse_type(np.dtype(dtype))
    if not isinstance(found, Scalar):
        raise BadSignature(f"{dtype!r} is no type of elements")
    return found
