"""Export ``numba.np.numpy_support``: conversions between types and NumPy dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.base.types import Scalar
from pycu2c.compat.numba.typeof import from_dtype as from_dtype
from pycu2c.declarations.signatures import parse_type


def __dir__() -> list[str]:
    return ["as_dtype", "from_dtype"]


def as_dtype(nbtype: object) -> np.dtype[Any]:
    """Return the NumPy dtype of a scalar or record type.

    Parameters
    ----------
    nbtype : type or str
        A scalar or record type.

    Raises
    ------
    NotImplementedError
        If the type is not a scalar or record.
    """
    parsed_type = parse_type(nbtype)
    if not isinstance(parsed_type, Scalar):
        raise NotImplementedError(f"{nbtype} cannot be represented as a NumPy dtype")
    return parsed_type.dtype.numpy
