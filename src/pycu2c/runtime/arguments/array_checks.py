"""Check that the elements of an array argument have a dtype and a layout that kernels support."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.limits import MAX_AXES
from pycu2c.runtime.arguments import argument_errors
from pycu2c.runtime.arguments.array_argument import ArrayArgument

_cached_dtype = functools.lru_cache(maxsize=64)(dtypes.from_numpy)  # called in every launch


def dtype_of(dtype: np.dtype[Any], name: str) -> DType:
    """Return the dtype of elements of a numpy dtype. Raises LaunchError."""
    row = _cached_dtype(dtype)
    if row is not None:
        return row
    argument_errors.reject_dtype(dtype, name)


def check_layout(array: ArrayArgument, name: str) -> None:
    """Check that elements are aligned and that strides are multiples of their size.

    Raises LaunchError.
    """
    dtype = array.dtype
    odd = (
        [] if array.contiguous else [step for step in _relevant_strides(array) if step % dtype.size]
    )
    if odd or array.address % dtype.alignment or not 1 <= len(array.shape) <= MAX_AXES:
        argument_errors.reject_layout(array, odd, name)


def _relevant_strides(array: ArrayArgument) -> list[int]:
    """Return the strides of axes with more than one element."""
    return [s for s, n in zip(array.strides, array.shape) if n > 1]
