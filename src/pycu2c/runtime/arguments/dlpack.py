"""Import and export arrays through DLPack capsules, without copies.

The structures of the standard are declared with ctypes.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.runtime.arguments.strides import packed_strides

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # DLDeviceType
DEFAULT_STREAM = 1  # the number of the legacy default stream
_READ_ONLY, _COPIED = 1, 2  # flags
_VERSION = (1, 0)


class DlpackArray(NamedTuple):
    """An array in terms of DLPack, with strides in bytes. ``owner`` keeps the memory alive."""

    device: tuple[int, int]
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    readonly: bool
    owner: object


class DlpackUnsupportedError(Exception):
    """DLPack or numpy cannot represent the array."""


# ---- structures --------------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", c_void_p), ("deleter", c_void_p)]


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _DLTensor),
    ]


_CAPSULE_NAME, _CONSUMED_NAME = b"dltensor", b"used_dltensor"
_VERSIONED_NAME, _CONSUMED_VERSIONED_NAME = b"dltensor_versioned", b"used_dltensor_versioned"
_DELETER = ctypes.CFUNCTYPE(None, c_void_p)


def _python_function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new_capsule = _python_function(
    "PyCapsule_New", ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p
)
_is_capsule = _python_function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_capsule_pointer = _python_function(
    "PyCapsule_GetPointer", c_void_p, ctypes.py_object, ctypes.c_char_p
)
_rename_capsule = _python_function(
    "PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p
)

# the names of dtypes without their bits, by DLDataTypeCode
_NAMES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_CODES = {name: code for code, name in _NAMES.items()}


def code_of(dtype: DType) -> int:
    """Return the DLDataTypeCode of a dtype of numbers."""
    return _CODES[dtype.name.rstrip("0123456789")]


def _dtype_of(tensor: _DLTensor) -> np.dtype[Any]:
    name = _NAMES.get(tensor.code, "")
    dtype = dtypes.BY_NAME.get(name if name == "bool" else f"{name}{tensor.bits}")
    if dtype is None or tensor.lanes != 1 or tensor.bits != 8 * dtype.size:
        raise DlpackUnsupportedError(
            f"elements of DLPack's code {tensor.code} with {tensor.bits} bits and {tensor.lanes} "
            "lanes have no dtype of numpy"
        )
    return dtype.numpy


# ---- import ------------------------------------------------------------------------------------


class _ImportedOwner:
    """Keeps an imported array alive, and calls its deleter."""

    __slots__ = ("__weakref__", "_address", "_deleter")

    def __init__(self, address: int, deleter: int | None) -> None:
        self._address, self._deleter = address, deleter

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._deleter and not finalizing():
            _DELETER(self._deleter)(self._address)


def import_array(source: Any, stream: int | None) -> DlpackArray:
    """Import the array of an object with ``__dlpack__``.

    ``stream`` is the stream that will use it, as in the standard: 1 is the default stream, None
    is for host memory.
    """
    device = tuple(map(int, source.__dlpack_device__()))
    keywords = {} if device[0] in (CPU, CUDA_HOST) else {"stream": stream}
    try:
        capsule = source.__dlpack__(max_version=_VERSION, **keywords)
    except TypeError:  # the producer does not support ``max_version``
        capsule = source.__dlpack__(**keywords)
    return _unpack_capsule(capsule)


def _unpack_capsule(capsule: Any) -> DlpackArray:
    is_versioned = bool(_is_capsule(capsule, _VERSIONED_NAME))
    if not is_versioned and not _is_capsule(capsule, _CAPSULE_NAME):
        raise DlpackUnsupportedError(
            "a DLPack capsule can be consumed once, and this one was consumed before"
        )
    address = _capsule_pointer(capsule, _VERSIONED_NAME if is_versioned else _CAPSULE_NAME)
    structure = _DLManagedTensorVersioned if is_versioned else _DLManagedTensor
    managed = structure.from_address(address)
    _rename_capsule(capsule, _CONSUMED_VERSIONED_NAME if is_versioned else _CONSUMED_NAME)
    owner = _ImportedOwner(address, managed.deleter)
    if isinstance(managed, _DLManagedTensor):
        return _describe(managed.tensor, False, owner)
    if managed.major != _VERSION[0]:
        raise DlpackUnsupportedError(f"version {managed.major} of DLPack is not supported")
    return _describe(managed.tensor, bool(managed.flags & _READ_ONLY), owner)


def _describe(tensor: _DLTensor, readonly: bool, owner: object) -> DlpackArray:
    dtype, axes = _dtype_of(tensor), tensor.ndim
    shape = tuple(tensor.shape[:axes]) if axes else ()
    if tensor.strides and axes:
        strides = tuple(_signed(stride * dtype.itemsize) for stride in tensor.strides[:axes])
    else:
        strides = packed_strides(shape, dtype.itemsize)
    address = (tensor.data or 0) + tensor.byte_offset
    device = tensor.device_type, tensor.device_id
    return DlpackArray(device, address, shape, strides, dtype, readonly, owner)


def _signed(number: int) -> int:
    """Reinterpret as signed: CuPy 14 divides negative strides as unsigned numbers."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# ---- export ------------------------------------------------------------------------------------

_EXPORTED: dict[int, object] = {}  # the exported structures and their owners, by address


def export_array(array: DlpackArray, *, versioned: bool, copied: bool = False) -> object:
    """Return a capsule for another package, whose deleter releases the memory."""
    if array.readonly and not versioned:
        raise DlpackUnsupportedError(
            "a read-only array needs version 1 of DLPack, which has a flag for it"
        )
    axes = len(array.shape)
    itemsize = array.dtype.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise DlpackUnsupportedError(
            "DLPack counts strides in elements, and a stride is no multiple of the element"
        )
    shape_and_strides = (c_int64 * (2 * axes))(
        *array.shape, *(stride // itemsize for stride in array.strides)
    )
    managed = _DLManagedTensorVersioned() if versioned else _DLManagedTensor()
    _fill_tensor(managed.tensor, array, ctypes.addressof(shape_and_strides))
    if isinstance(managed, _DLManagedTensorVersioned):
        managed.major, managed.minor = _VERSION
        managed.flags = (_READ_ONLY * array.readonly) | (_COPIED * copied)
    managed.deleter = ctypes.cast(_RELEASE, c_void_p)
    address = ctypes.addressof(managed)
    _EXPORTED[address] = managed, shape_and_strides, array.owner
    name = _VERSIONED_NAME if versioned else _CAPSULE_NAME
    return _new_capsule(address, name, ctypes.cast(_destructor(), c_void_p))


def _fill_tensor(tensor: _DLTensor, array: DlpackArray, shape_and_strides: int) -> None:
    axes = len(array.shape)
    tensor.data = array.address
    tensor.device_type, tensor.device_id = array.device
    dtype = dtypes.from_numpy(array.dtype)
    if dtype is None or dtype.has_fields:
        raise DlpackUnsupportedError(f"DLPack has no dtype {array.dtype}")
    tensor.ndim, tensor.code = axes, code_of(dtype)
    tensor.bits, tensor.lanes = 8 * array.dtype.itemsize, 1
    tensor.shape = ctypes.cast(shape_and_strides, ctypes.POINTER(c_int64))
    tensor.strides = ctypes.cast(shape_and_strides + 8 * axes, ctypes.POINTER(c_int64))


def _release(address: int | None) -> None:
    _EXPORTED.pop(address or 0, None)


_RELEASE = _DELETER(_release)


@functools.cache
def _destructor() -> Any:
    """Return the destructor of capsules that no package has consumed."""
    valid = _python_function("PyCapsule_IsValid", ctypes.c_int, c_void_p, ctypes.c_char_p)
    pointer = _python_function("PyCapsule_GetPointer", c_void_p, c_void_p, ctypes.c_char_p)

    def destroy(capsule: int | None) -> None:
        for name in (_CAPSULE_NAME, _VERSIONED_NAME):
            if valid(capsule, name):
                _EXPORTED.pop(pointer(capsule, name), None)

    # pass the address: the capsule is being destroyed, and must not be referenced again
    return ctypes.PYFUNCTYPE(None, c_void_p)(destroy)
