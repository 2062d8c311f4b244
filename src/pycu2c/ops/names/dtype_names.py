"""Resolve objects that denote scalar types: pycu2c's, NumPy's and numba's, and strings."""

from __future__ import annotations

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.types import Scalar
from pycu2c.ops.names.numba_names import numba_type


def scalar_named(value: object) -> Scalar | None:
    """Return the type of ``float32``, ``np.float32``, ``"float32"`` or ``numba.float32``."""
    if isinstance(value, Scalar):
        return value
    if isinstance(value, str):
        dtype = dtypes.BY_NAME.get(value)
        return Scalar(dtype) if dtype else None
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        dtype = dtypes.from_numpy(np.dtype(value))
        return Scalar(dtype) if dtype else None
    numba_scalar = numba_type(value)
    return numba_scalar if isinstance(numba_scalar, Scalar) else None
