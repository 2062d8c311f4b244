"""Check that kernels support the dtype and the layout of an array argument."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.limits import MAX_AXES
from pycu2c.runtime.arguments.array_argument import ArrayArgument

_cached_dtype = functools.lru_cache(maxsize=64)(dtypes.from_numpy)  # called in every launch


def dtype_of(dtype: np.dtype[Any], name: str) -> DType:
    """Return the dtype of elements of a numpy dtype. Raises LaunchError."""
    found = _cached_dtype(dtype)
    if found is not None:
        return found
    _reject_dtype(dtype, name)


def check_layout(array: ArrayArgument, name: str) -> None:
    """Check that elements are aligned and that strides are multiples of their size.

    Raises LaunchError.
    """
    dtype = array.dtype
    strides = [] if array.contiguous else [s for s, n in zip(array.strides, array.shape) if n > 1]
    split_strides = [stride for stride in strides if stride % dtype.size]
    if split_strides or array.address % dtype.alignment or len(array.shape) > MAX_AXES:
        _reject_layout(array, split_strides, name)


# ---- errors ----

_CONVERSION_BY_KIND = {  # by the kind of a numpy dtype
    "O": ".astype(np.float64), or another dtype of numbers,",
    "M": '.view("int64")',
    "m": '.view("int64")',
    "f": '.astype("float64")',
    "c": '.astype("complex128")',
    "S": '.view("uint8")',
    "U": '.view("uint32")',
}


def _unsupported_field(dtype: np.dtype[Any]) -> str:
    """Say why a structured dtype is not supported."""
    fields: Mapping[str, Any] = dtype.fields or {}
    for field, (field_dtype, *_) in fields.items():
        if dtypes.from_numpy(field_dtype.base) is not None and 0 not in field_dtype.shape:
            continue
        if field_dtype.base.names:
            return _unsupported_field(field_dtype.base)
        return f"the field {field!r} of {field_dtype}, which kernels do not support"
    return "overlapping fields: pass a view without some of them"


def _reject_dtype(dtype: np.dtype[Any], name: str) -> NoReturn:
    """Raise LaunchError for a dtype that kernels do not support."""
    if not dtype.isnative and dtypes.from_numpy(dtype.newbyteorder("=")):
        raise LaunchError(
            f"{name} is not in native byte order ({dtype.str}): "
            f"pass what .astype({dtype.newbyteorder('=').str!r}) gives"
        )
    if dtype.names:
        raise LaunchError(f"{name} has {_unsupported_field(dtype)}")
    known = ", ".join(supported.name for supported in dtypes.DTYPES)
    hint = _CONVERSION_BY_KIND.get(dtype.kind)
    advice = f"pass what {hint} gives" if hint else f"they have {known}"
    raise LaunchError(f"{name} has dtype {dtype}, which kernels do not support: {advice}")


def _reject_layout(array: ArrayArgument, split_strides: list[int], name: str) -> NoReturn:
    """Raise LaunchError for an unsupported layout; ``split_strides``: those that split elements."""
    itemsize = array.dtype.size
    if len(array.shape) > MAX_AXES:
        raise LaunchError(
            f"{name} has {len(array.shape)} axes, and arrays of kernels have at most {MAX_AXES}"
        )
    if array.address % array.dtype.alignment:
        raise LaunchError(
            f"{name} does not begin at a multiple of {array.dtype.alignment} bytes, as memory of "
            f"{array.dtype} must: pass a copy, as .copy() makes one"
        )
    raise LaunchError(
        f"{name} has elements of {itemsize} bytes in steps of {split_strides[0]} bytes, which is "
        "not a multiple: pass a copy, as .copy() makes one"
    )
