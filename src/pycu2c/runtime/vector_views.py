"""Arrays of numbers that a signature declares as arrays of vectors: (n, 4) of float32 is (n,) of
float4. Packages such as CuPy and PyTorch have no structured dtypes. Knows no launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pycu2c.records import dataclass
from pycu2c.types import Array, ParameterType


@dataclass(frozen=True, slots=True)
class _DeviceView:
    """Memory of another array, seen as vectors."""

    owner: object
    __cuda_array_interface__: Mapping[str, Any]


def vectors_declared(types: Sequence[ParameterType]) -> dict[int, Array]:
    """The parameters that are arrays of vectors, by their positions."""
    found = ((i, kind) for i, kind in enumerate(types) if isinstance(kind, Array))
    return {i: kind for i, kind in found if kind.dtype.is_vector}


def seen_as_declared(values: Sequence[object], wanted: Mapping[int, Array]) -> list[object]:
    """Arguments, with arrays of numbers as the vectors that they are to be."""
    return [_seen(v, wanted[i]) if i in wanted else v for i, v in enumerate(values)]


def _seen(value: Any, wanted: Array) -> object:
    """The same memory as vectors; what is no such array is left for others to refuse."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _on_device(value, interface, wanted)
    if not hasattr(value, "__array_interface__") or isinstance(value, np.generic):
        return value
    array = np.asarray(value)
    if not _fits(array.dtype, array.shape, array.strides, wanted):
        return value
    return array.view(wanted.dtype.numpy)[..., 0]


def _on_device(value: object, interface: Mapping[str, Any], wanted: Array) -> object:
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    strides = interface.get("strides")
    if not _fits(dtype, shape, strides or (dtype.itemsize,), wanted):
        return value
    row = wanted.dtype.numpy
    own = {"shape": shape[:-1], "typestr": row.str, "descr": row.descr}
    return _DeviceView(value, {**interface, **own, "strides": strides and tuple(strides)[:-1]})


def _fits(
    dtype: np.dtype[Any], shape: tuple[int, ...], strides: Sequence[int], wanted: Array
) -> bool:
    """Whether the last axis is the components of one vector, side by side."""
    parts = wanted.dtype.fields
    whole = len(shape) == wanted.ndim + 1 and shape[-1] == len(parts)
    return whole and dtype == parts[0].dtype.numpy and strides[-1] == dtype.itemsize
