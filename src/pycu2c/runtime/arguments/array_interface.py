"""Describe arrays with ``__array_interface__`` or ``__cuda_array_interface__``."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from pycu2c.base.diagnostics import LaunchError
from pycu2c.runtime.arguments.array_argument import ArrayArgument, MemoryLocation
from pycu2c.runtime.arguments.array_checks import check_layout, dtype_of
from pycu2c.runtime.arguments.strides import is_contiguous, packed_strides


def describe(
    owner: object, interface: Mapping[str, Any], location: MemoryLocation, name: str
) -> ArrayArgument:
    """Describe an array from either interface; only ``stream`` differs."""
    if interface.get("mask") is not None:
        raise LaunchError(f"{name} has a mask, and kernels have none")
    data = interface.get("data")
    if not isinstance(data, tuple):
        raise LaunchError(f"{name} has no data address: pass numpy.asarray(…)")
    dtype = dtype_of(numpy_dtype(interface), name)
    shape = tuple(map(operator.index, interface["shape"]))
    byte_strides = interface.get("strides") or packed_strides(shape, dtype.size)
    strides = tuple(map(operator.index, byte_strides))
    address = operator.index(data[0] or 0)
    if not address and 0 not in shape:
        raise LaunchError(f"{name} has elements, and its data address is 0: its memory was freed")
    described = ArrayArgument(
        dtype,
        shape,
        strides,
        address,
        bool(data[1]),
        is_contiguous(shape, strides, dtype.size),
        location,
        owner,
        interface.get("stream"),
    )
    check_layout(described, name)
    return described


def numpy_dtype(interface: Mapping[str, Any]) -> np.dtype[Any]:
    """Return the dtype of an interface; ``descr`` has the fields of a structured dtype."""
    dtype: np.dtype[Any] = np.dtype(interface["typestr"])
    fields = interface.get("descr")
    if not fields or dtype.kind != "V":
        return dtype
    # keeps the padding between fields
    record: np.dtype[Any] = np.lib.format.descr_to_dtype([tuple(f) for f in fields])
    return record
