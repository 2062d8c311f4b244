"""Why an array cannot be passed to a kernel, and what to pass instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.limits import MOST_AXES
from pycu2c.runtime.arguments.array_argument import ArrayArgument

_INSTEAD_OF_KIND = {  # numpy's kinds of dtypes
    "O": ".astype(np.float64), or another dtype of numbers,",
    "M": '.view("int64")',
    "m": '.view("int64")',
    "f": '.astype("float64")',
    "c": '.astype("complex128")',
    "S": '.view("uint8")',
    "U": '.view("uint32")',
}


def _misfit(dtype: np.dtype[Any]) -> str:
    """Which field of a structured dtype is none that kernels have."""
    places: Mapping[str, Any] = dtype.fields or {}
    for field, (part, *_) in places.items():
        if dtypes.from_numpy(part.base) is not None and 0 not in part.shape:
            continue
        if part.base.names:
            return _misfit(part.base)
        return f"the field {field!r} of {part}, which kernels do not have"
    return "fields that lie over one another: pass a view of it without some of them"


def refuse_dtype(dtype: np.dtype[Any], name: str) -> NoReturn:
    """Of elements that no kernel has."""
    if not dtype.isnative and dtypes.from_numpy(dtype.newbyteorder("=")):
        raise LaunchError(
            f"{name} is in the other byte order ({dtype.str}): "
            f"pass what .astype({dtype.newbyteorder('=').str!r}) gives"
        )
    if dtype.names:
        raise LaunchError(f"{name} has {_misfit(dtype)}")
    known = ", ".join(row.name for row in dtypes.DTYPES)
    cure = _INSTEAD_OF_KIND.get(dtype.kind)
    advice = f"pass what {cure} gives" if cure else f"they have {known}"
    raise LaunchError(f"{name} has dtype {dtype}, which kernels do not have: {advice}")


def refuse_place(array: ArrayArgument, odd: list[int], name: str) -> NoReturn:
    """Of elements that lie where none may; ``odd``: steps that are not of whole elements."""
    itemsize = array.dtype.size
    if not 1 <= len(array.shape) <= MOST_AXES:
        cure = ": pass a number, as [()] gives, or .reshape(1)" if not array.shape else ""
        raise LaunchError(
            f"{name} has {len(array.shape)} axes, and arrays of kernels have 1 to {MOST_AXES}{cure}"
        )
    if array.address % array.dtype.alignment:
        raise LaunchError(
            f"{name} does not begin at a multiple of {array.dtype.alignment} bytes, as memory of "
            f"{array.dtype} must: pass a copy, as .copy() makes one"
        )
    raise LaunchError(
        f"{name} has elements of {itemsize} bytes in steps of {odd[0]} bytes, which is not a "
        "multiple: pass a copy, as .copy() makes one"
    )
