"""Implement ``typeof`` and ``from_dtype``: the types of values and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycu2c.base.types import ParameterType, Scalar, default_type
from pycu2c.declarations.signatures import SignatureError, parse_type
from pycu2c.runtime.arguments.flattened_arguments import flatten_arguments


def typeof(val: Any) -> ParameterType:
    """Return the type that an argument has in a kernel, as ``numba.typeof``.

    Parameters
    ----------
    val : object
        An argument of a kernel: a number, an array, a tuple, a record, None.

    Returns
    -------
    type
        The type, such as ``float64[::1]`` for ``np.zeros(3)`` and ``int64`` for ``1``.

    Raises
    ------
    LaunchError
        If kernels do not accept the value.
    """
    (value_type,) = flatten_arguments((val,), ("the value",)).types
    return default_type(value_type)


def from_dtype(dtype: DTypeLike) -> Scalar:
    """Return the element type of a NumPy dtype: a scalar or a record.

    Parameters
    ----------
    dtype : dtype_like
        A scalar or structured dtype.

    Raises
    ------
    SignatureError
        If kernels do not have the dtype.
    """
    element_type = parse_type(np.dtype(dtype))
    if not isinstance(element_type, Scalar):
        raise SignatureError(f"{dtype!r} is not an element type")
    return element_type
