"""View arguments as arrays of vectors if the signature declares such arrays.

An array of shape (n, 4) and dtype float32 is viewed as (n,) of float4, because packages such as
CuPy and PyTorch have no structured dtypes. Records with the layout of float4 are viewed as float4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pycu2c.base.dtypes import from_numpy, vector_like
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType
from pycu2c.runtime.arguments import torch_tensors
from pycu2c.runtime.arguments.array_interface import numpy_dtype


@dataclass(frozen=True, slots=True)
class _DeviceView:
    """A device array, viewed as vectors."""

    owner: object
    __cuda_array_interface__: Mapping[str, Any]


def vector_parameters(types: Sequence[ParameterType]) -> dict[int, Array]:
    """Return the parameters that are arrays of vectors, by position."""
    arrays = (
        (i, parameter_type)
        for i, parameter_type in enumerate(types)
        if isinstance(parameter_type, Array)
    )
    return {i: parameter_type for i, parameter_type in arrays if parameter_type.dtype.is_vector}


def view_as_vectors(
    values: Sequence[object], declared: Mapping[int, Array], names: Sequence[str]
) -> list[object]:
    """Return the arguments with arrays of numbers or records viewed as the declared vectors."""
    return [
        _view(value, declared[i], names[i]) if i in declared else value
        for i, value in enumerate(values)
    ]


def has_views(values: Sequence[Any], declared: Mapping[int, Array]) -> bool:
    """Return whether an argument is not an array of the declared vectors, but viewed as one."""
    return any(
        getattr(values[i], "dtype", None) != array.dtype.numpy for i, array in declared.items()
    )


def _view(value: Any, declared: Array, name: str) -> object:
    """View an array as vectors; other values are returned unchanged, and rejected later."""
    if torch_tensors.is_tensor(value):
        value = torch_tensors.describe(value, name).owner
    if hasattr(value, "__pycu2c_array__"):  # our own arrays keep track of their memory
        return _view_host(value, value, declared)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _view_device(value, interface, declared)
    if not hasattr(value, "__array_interface__") or isinstance(value, np.generic):
        return value
    return _view_host(np.asarray(value), value, declared)


def _view_host(array: Any, value: object, declared: Array) -> object:
    vector_dtype = declared.dtype.numpy
    if _is_vector_record(array.dtype, declared):
        return array.view(vector_dtype)
    if _has_vector_axis(array.dtype, array.shape, array.strides, declared):
        return array.view(vector_dtype)[..., 0]
    return value


def _view_device(value: object, interface: Mapping[str, Any], declared: Array) -> object:
    dtype, shape = numpy_dtype(interface), tuple(interface["shape"])
    strides, vector_dtype = interface.get("strides"), declared.dtype.numpy
    changes: dict[str, Any] = {"typestr": vector_dtype.str, "descr": vector_dtype.descr}
    if _is_vector_record(dtype, declared):
        return _DeviceView(value, {**interface, **changes})
    if not _has_vector_axis(dtype, shape, strides or (dtype.itemsize,), declared):
        return value
    changes |= {"shape": shape[:-1], "strides": strides and tuple(strides)[:-1]}
    return _DeviceView(value, {**interface, **changes})


def _is_vector_record(dtype: np.dtype[Any], declared: Array) -> bool:
    """Return whether a record dtype has the layout of a vector."""
    record = from_numpy(dtype) if dtype.names else None
    return (
        record is not None
        and record is not declared.dtype
        and vector_like(record) is declared.dtype
    )


def _has_vector_axis(
    dtype: np.dtype[Any], shape: tuple[int, ...], strides: Sequence[int], declared: Array
) -> bool:
    """Return whether the last axis contains the components of a vector contiguously."""
    components = declared.dtype.fields
    has_axis = len(shape) == declared.ndim + 1 and shape[-1] == len(components)
    return has_axis and dtype == components[0].dtype.numpy and strides[-1] == dtype.itemsize
