"""Check that the elements of an array argument have a dtype and a layout that kernels support."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.limits import MOST_AXES
from pycu2c.runtime.arguments import argument_errors
from pycu2c.runtime.arguments.array_argument import ArrayArgument

_row_of = functools.lru_cache(maxsize=64)(dtypes.from_numpy)  # every launch asks


def row_of(dtype: np.dtype[Any], name: str) -> DType:
    """The type of elements that a numpy dtype is. Raises LaunchError."""
    row = _row_of(dtype)
    if row is not None:
        return row
    argument_errors.refuse_dtype(dtype, name)


def check_places(array: ArrayArgument, name: str) -> None:
    """Kernels count in elements: each must lie where its type may, whole elements apart. Raises
    LaunchError."""
    dtype = array.dtype
    odd = [] if array.contiguous else [step for step in _steps(array) if step % dtype.size]
    if odd or array.address % dtype.alignment or not 1 <= len(array.shape) <= MOST_AXES:
        argument_errors.refuse_place(array, odd, name)


def _steps(array: ArrayArgument) -> list[int]:
    """The strides that count: along an axis of one element nobody walks."""
    return [s for s, n in zip(array.strides, array.shape) if n > 1]
