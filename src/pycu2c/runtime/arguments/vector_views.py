"""Arrays that a signature declares as arrays of vectors: (n, 4) of float32 is (n,) of float4, since
packages such as CuPy and PyTorch have no structured dtypes; and records with the layout of float4
are float4. Knows no launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pycu2c.base.dtypes import from_numpy, vector_like
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType
from pycu2c.runtime.arguments.array_interface import numpy_dtype


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
    """Arguments, with arrays of numbers or records as the vectors that they are to be."""
    return [_seen(v, wanted[i]) if i in wanted else v for i, v in enumerate(values)]


def _seen(value: Any, wanted: Array) -> object:
    """The same memory as vectors; what is no such array is left for others to refuse."""
    if hasattr(value, "__pycu2c_array__"):  # those of this package know who else uses their memory
        return _viewed(value, value, wanted)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _on_device(value, interface, wanted)
    if not hasattr(value, "__array_interface__") or isinstance(value, np.generic):
        return value
    return _viewed(np.asarray(value), value, wanted)


def _viewed(array: Any, value: object, wanted: Array) -> object:
    row = wanted.dtype.numpy
    if _is_like(array.dtype, wanted):
        return array.view(row)
    if _fits(array.dtype, array.shape, array.strides, wanted):
        return array.view(row)[..., 0]
    return value


def _on_device(value: object, interface: Mapping[str, Any], wanted: Array) -> object:
    dtype, shape = numpy_dtype(interface), tuple(interface["shape"])
    strides, row = interface.get("strides"), wanted.dtype.numpy
    own: dict[str, Any] = {"typestr": row.str, "descr": row.descr}
    if _is_like(dtype, wanted):
        return _DeviceView(value, {**interface, **own})
    if not _fits(dtype, shape, strides or (dtype.itemsize,), wanted):
        return value
    own |= {"shape": shape[:-1], "strides": strides and tuple(strides)[:-1]}
    return _DeviceView(value, {**interface, **own})


def _is_like(dtype: np.dtype[Any], wanted: Array) -> bool:
    """Whether a record has the layout of a vector."""
    row = from_numpy(dtype) if dtype.names else None
    return row is not None and row is not wanted.dtype and vector_like(row) is wanted.dtype


def _fits(
    dtype: np.dtype[Any], shape: tuple[int, ...], strides: Sequence[int], wanted: Array
) -> bool:
    """Whether the last axis is the components of one vector, side by side."""
    parts = wanted.dtype.fields
    whole = len(shape) == wanted.ndim + 1 and shape[-1] == len(parts)
    return whole and dtype == parts[0].dtype.numpy and strides[-1] == dtype.itemsize
