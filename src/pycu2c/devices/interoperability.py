"""Recognize device arrays of other packages, and export ours without copies.

``__cuda_array_interface__`` names the stream that its reader must wait for. A DLPack reader names
the stream that must wait. Work on our arrays is ordered by the default stream: blocking streams
synchronize with it, and launches record the other streams (``used_on``).
"""

from __future__ import annotations

from typing import Any

from pycu2c.cuda_driver import driver
from pycu2c.devices import copies
from pycu2c.devices.array_data import ArrayData
from pycu2c.runtime.arguments import dlpack
from pycu2c.runtime.cuda.memory import HOST


def is_cuda_array(obj: object) -> bool:
    """Return whether an object has ``__cuda_array_interface__``.

    Parameters
    ----------
    obj : object
        Any object.
    """
    return hasattr(obj, "__cuda_array_interface__")


def is_on_device(obj: object) -> bool:
    """Return whether an object is an array in GPU memory, or a device array of this package.

    Parameters
    ----------
    obj : object
        Any object.
    """
    if isinstance(obj, ArrayData) or is_cuda_array(obj):
        return True
    device = getattr(obj, "__dlpack_device__", None)
    return device is not None and device()[0] in (dlpack.CUDA, dlpack.CUDA_MANAGED)


def cuda_array_interface(array: ArrayData) -> dict[str, Any]:
    """Return the ``__cuda_array_interface__`` of an array in GPU memory."""
    array._memory.mark_exported()
    handle = driver.stream_of(array.stream)
    with driver.on_device(array.device):  # whose default stream waits
        array._memory.before_use(handle)
    return {
        "shape": array.shape,
        "typestr": array.dtype.str,
        "descr": array.dtype.descr,
        "data": (array.address, not array.writeable),
        "strides": None if array.is_c_contiguous() else array.strides,
        "stream": handle or dlpack.DEFAULT_STREAM,
        "version": 3,
    }


def dlpack_device(array: ArrayData) -> tuple[int, int]:
    """Return the type and the ordinal of the device, in DLPack's numbers."""
    return (dlpack.CPU, 0) if array.device == HOST else (dlpack.CUDA, array.device)


def dlpack_capsule(
    array: ArrayData,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """Return the value of ``array.__dlpack__(…)``. Raises BufferError."""
    array._memory.mark_exported()
    device = dlpack_device(array)
    if dl_device is not None and tuple(dl_device) != device:
        if tuple(dl_device) != (dlpack.CPU, 0) or copy is False:
            raise BufferError(
                f"this array is on device {device}, and DLPack cannot copy it to {dl_device}"
            )
        return copies.to_host(array, None, array.stream).__dlpack__(max_version=max_version)
    if copy:
        array = copies.duplicate(array, array.stream)
    if device[0] == dlpack.CUDA:
        _order_reader(array, stream)
    exported = dlpack.DlpackArray(
        device, array.address, array.shape, array.strides, array.dtype, not array.writeable, array
    )
    versioned = max_version is not None and max_version[0] >= 1
    try:
        return dlpack.export_array(exported, versioned=versioned, copied=bool(copy))
    except dlpack.DlpackUnsupportedError as error:
        raise BufferError(str(error)) from None


def _order_reader(array: ArrayData, stream: int | None) -> None:
    """Order the reader's stream after pending work on the array; -1 for no order."""
    if stream == -1:
        return
    reader_stream = dlpack.DEFAULT_STREAM if stream is None else stream
    if reader_stream == 0:
        raise BufferError("stream 0 is ambiguous to DLPack: pass 1, the default stream, or 2")
    with driver.on_device(array.device):
        array._memory.before_use(reader_stream)
        driver.order_after(driver.stream_of(array.stream), reader_stream)
    if reader_stream > 2:  # not a default stream
        array.used_on(reader_stream)
