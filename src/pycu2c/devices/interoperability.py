"""Device arrays for other packages, and theirs for ours: the same memory, no copy.

Two protocols say where an array lies: ``__cuda_array_interface__``, whose ``stream`` is the one
that its reader has to wait for, and DLPack, whose reader names the stream that is to wait. Work on
our arrays is ordered by the default stream: it waits for blocking streams by itself, and here for
those that launches have told of (``used_on``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments import array_interface, dlpack
from pycu2c.runtime.arguments.dlpack import CPU, CUDA, CUDA_HOST, CUDA_MANAGED, DlpackArray
from pycu2c.runtime.arguments.strides import packed_strides
from pycu2c.runtime.cuda import peer_access
from pycu2c.runtime.cuda.memory import HOST, ExternalMemory

_LEGACY = 1  # the default stream, as both protocols call it


# ---- ours for others ---------------------------------------------------------------------------


def interface_of(array: DeviceArray) -> dict[str, Any]:
    """``array.__cuda_array_interface__``."""
    handle = driver.stream_of(array.stream)
    array._memory.before_use(handle)
    return {
        "shape": array.shape,
        "typestr": array.dtype.str,
        "descr": array.dtype.descr,
        "data": (array.address, not array.writeable),
        "strides": None if array.is_c_contiguous() else array.strides,
        "stream": handle or _LEGACY,
        "version": 3,
    }


def dlpack_device(array: DeviceArray) -> tuple[int, int]:
    return (CPU, 0) if array.device == HOST else (CUDA, array.device)


def capsule_of(
    array: DeviceArray,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """``array.__dlpack__(…)``."""
    own = dlpack_device(array)
    if dl_device is not None and tuple(dl_device) != own:
        if tuple(dl_device) != (CPU, 0) or copy is False:
            raise BufferError(f"this array is on {own}, and not copied to {dl_device} for DLPack")
        return array.copy_to_host().__dlpack__(max_version=max_version)
    if copy:
        array = array.copy()
    if own[0] == CUDA:
        _let_wait(array, stream)
    given = DlpackArray(
        own, array.address, array.shape, array.strides, array.dtype, not array.writeable, array
    )
    versioned = max_version is not None and max_version[0] >= 1
    try:
        return dlpack.export_array(given, versioned=versioned, copied=bool(copy))
    except dlpack.DlpackUnsupportedError as error:
        raise BufferError(str(error)) from None


def _let_wait(array: DeviceArray, stream: int | None) -> None:
    """Let the stream of who takes the array wait for the work on it; -1 is for nobody waits."""
    if stream == -1:
        return
    reader = _LEGACY if stream is None else stream
    if reader == 0:
        raise BufferError("stream 0 is ambiguous to DLPack: pass 1, the default stream, or 2")
    array._memory.before_use(reader)
    driver.order_after(driver.stream_of(array.stream), reader)
    if reader > 2:
        array.used_on(reader)


# ---- others for ours ---------------------------------------------------------------------------


def is_cuda_array(obj: object) -> bool:
    """Whether an object says, as numba's and CuPy's arrays do, where on a GPU it lies."""
    return hasattr(obj, "__cuda_array_interface__")


def is_on_device(obj: object) -> bool:
    """Whether an object is an array in the memory of a GPU."""
    if isinstance(obj, DeviceArray) or is_cuda_array(obj):
        return True
    device = getattr(obj, "__dlpack_device__", None)
    return device is not None and device()[0] in (CUDA, CUDA_MANAGED)


def as_device_array(obj: Any) -> DeviceArray:
    """An array of any package as one of ours."""
    if isinstance(obj, DeviceArray):
        return obj
    return as_cuda_array(obj) if is_cuda_array(obj) else from_dlpack(obj)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """The array of an object with ``__cuda_array_interface__``, where it lies. With ``sync``,
    what is done with it next waits for the work that its owner has under way."""
    if isinstance(obj, DeviceArray):
        return obj
    if not is_cuda_array(obj):
        raise TypeError(f"a {type(obj).__name__} has no __cuda_array_interface__")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(
    desc: Mapping[str, Any], owner: object = None, sync: bool = True
) -> DeviceArray:
    """An array from the description that ``__cuda_array_interface__`` gives."""
    if desc.get("mask") is not None:
        raise TypeError("an array with a mask is not taken over: pass its data")
    dtype = array_interface.numpy_dtype(desc)
    shape = tuple(map(int, desc["shape"]))
    strides = desc.get("strides")
    address, readonly = desc["data"]
    ordinal = (
        peer_access.ordinal_at(int(address)) if address and driver.has_multiple_devices() else 0
    )
    array = DeviceArray(
        ExternalMemory(owner, int(address or 0), 0, ordinal),
        int(address or 0),
        shape,
        tuple(map(int, strides)) if strides else packed_strides(shape, dtype.itemsize),
        dtype,
        writeable=not readonly,
    )
    if sync and desc.get("stream") is not None:
        with driver.on_device(ordinal):
            driver.order_after(int(desc["stream"]), 0)
    return array


def from_dlpack(obj: Any) -> DeviceArray:
    """The array of an object with ``__dlpack__``, where it lies: on a GPU, or of the host."""
    if isinstance(obj, DeviceArray):
        return obj
    if not hasattr(obj, "__dlpack__"):
        raise TypeError(f"a {type(obj).__name__} has no __dlpack__")
    try:
        found = dlpack.import_array(obj, _LEGACY)
    except dlpack.DlpackUnsupportedError as error:
        raise LaunchError(f"this {type(obj).__name__} is not taken over: {error}") from None
    kind, ordinal = found.device
    if kind not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise TypeError(
            f"a {type(obj).__name__} on a device of DLPack's kind {kind} is no array here"
        )
    where = ordinal if kind in (CUDA, CUDA_MANAGED) else HOST
    return DeviceArray(
        ExternalMemory(found.owner, found.address, 0, where),
        found.address,
        found.shape,
        found.strides,
        found.dtype,
        writeable=not found.readonly,
    )


def over_numpy(array: np.ndarray[Any, Any], ordinal: int, stream: object) -> DeviceArray:
    """A device array where numpy's lies, in memory that the GPU ``ordinal`` reaches."""
    address = array.__array_interface__["data"][0]
    return DeviceArray(
        ExternalMemory(array, address, 0, ordinal),
        address,
        array.shape,
        array.strides,
        array.dtype,
        array.flags.writeable,
        stream,
    )
