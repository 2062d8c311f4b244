"""Implement PyCUDA's device and host memory by the copies of ``pycu2c.cuda``.

Without a GPU, device memory is host memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.enums import host_alloc_flags, mem_attach_flags
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import allocation, copies, gpu_selection, interoperability
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory import ExternalMemory, Memory

_BYTE = np.dtype(np.uint8)


class PointerHolderBase:
    """The base class of objects that represent a device address."""

    __slots__ = ()

    def get_pointer(self) -> int:
        """Return the address."""
        raise NotImplementedError

    def __int__(self) -> int:
        return self.get_pointer()

    def __index__(self) -> int:
        return self.get_pointer()

    def __add__(self, offset: int) -> int:
        return self.get_pointer() + operator.index(offset)

    __radd__ = __add__


class DeviceAllocation(PointerHolderBase):
    """Device memory, which is freed with this object or by ``free()``."""

    __slots__ = ("__weakref__", "_array")

    def __init__(self, array: DeviceArray) -> None:
        self._array: DeviceArray | None = array

    def device_array(self) -> DeviceArray:
        """Return the memory as an array of bytes. Raises LogicError if it was freed."""
        if self._array is None:
            raise LogicError("this memory was freed")
        return self._array

    def get_pointer(self) -> int:
        return self.device_array().address

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return self.device_array().size

    def free(self) -> None:
        """Release the memory; it is freed with the last array that uses it."""
        self.device_array()
        self._array = None


def mem_alloc(size: int) -> DeviceAllocation:
    """Return new device memory.

    Raises
    ------
    LogicError
        If the size is not positive.
    """
    count = operator.index(size)
    if count <= 0:
        raise LogicError(f"mem_alloc: the size must be positive, not {count}")
    return DeviceAllocation(DeviceArray.empty((count,), _BYTE, gpu_selection.ordinal_of(None)))


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Return device memory of as many bytes as an array has."""
    return mem_alloc(ary.nbytes)


def mem_get_info() -> tuple[int, int]:
    """Return the free and the total bytes."""
    free, total = gpu_selection.get_current_device().memory
    return free, total


class DeviceMemoryPool:
    """A pool of device memory: ``pool.allocate`` is ``mem_alloc``, which uses the driver's pool."""

    allocate = __call__ = staticmethod(mem_alloc)

    def free_held(self) -> None:
        """Return unused memory of the driver's pool to the device."""
        if gpu_selection.ordinal_of(None) >= 0:
            memory_pool.trim()

    stop_holding = free_held


def memory_behind(value: Any, size: int) -> Memory:
    """Return the memory of an allocation, a device array or an address of ``size`` bytes."""
    array = value.device_array() if isinstance(value, DeviceAllocation) else value
    if isinstance(array, DeviceArray):
        return array._memory
    return ExternalMemory(value, operator.index(value), size, gpu_selection.ordinal_of(None))


def bytes_at(value: Any, size: int, doing: str = "copy") -> DeviceArray:
    """Return bytes of device memory: of an allocation or an array, or at an address.

    Raises LogicError, TypeError.
    """
    array = value.device_array() if isinstance(value, DeviceAllocation) else value
    if interoperability.is_on_device(array):
        array = as_device_array(array)
    elif not hasattr(array, "__index__"):
        raise TypeError(
            f"device memory must be an allocation, a GPUArray or an address, not {value!r}"
        )
    if isinstance(array, DeviceArray) and size > array.nbytes:
        raise LogicError(f"{doing}: {size} bytes, but only {array.nbytes} bytes are allocated")
    address = array.address if isinstance(array, DeviceArray) else operator.index(array)
    return DeviceArray(memory_behind(array, size), address, (size,), (1,), _BYTE)


# ---- copies and fills --------------------------------------------------------------------------


def _host_bytes(buffer: Any) -> NDArray[np.uint8]:
    """Return the bytes of a contiguous array or buffer. Raises TypeError, ValueError."""
    is_array = isinstance(buffer, np.ndarray | np.generic)
    array = np.asarray(buffer) if is_array else np.frombuffer(buffer, np.uint8)
    if array.flags.f_contiguous:
        array = array.T
    if not array.flags.c_contiguous:
        raise ValueError("the array has gaps between its elements: pass np.ascontiguousarray(a)")
    return array.reshape(-1).view(np.uint8)


def memcpy_htod(dest: Any, src: Any) -> None:
    """Copy host memory to the device."""
    memcpy_htod_async(dest, src)


def memcpy_htod_async(dest: Any, src: Any, stream: object = None) -> None:
    """Copy host memory to the device, in a stream."""
    source = _host_bytes(src)
    copies.assign(bytes_at(dest, source.size, "memcpy_htod"), source, stream)


def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Copy device memory to the host."""
    memcpy_dtoh_async(dest, src)


def memcpy_dtoh_async(dest: Any, src: Any, stream: object = None) -> None:
    """Copy device memory to the host, in a stream."""
    target = _host_bytes(dest)
    if not target.flags.writeable:
        raise ValueError("the target array is read-only")
    copies.to_host(bytes_at(src, target.size, "memcpy_dtoh"), target, stream)


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copy device memory to device memory."""
    memcpy_dtod_async(dest, src, size)


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: object = None) -> None:
    """Copy device memory to device memory, in a stream."""
    doing = "memcpy_dtod"
    copies.assign(bytes_at(dest, size, doing), bytes_at(src, size, doing), stream)


def _memset(dtype: type[np.generic]) -> Callable[..., None]:
    """Return a function that fills memory with an integer of a dtype."""
    itemsize = np.dtype(dtype).itemsize

    def memset(dest: Any, data: int, size: int, stream: object = None) -> None:
        target = bytes_at(dest, size * itemsize, "memset").view(dtype)
        copies.assign(target, np.array(data, dtype)[()], stream)

    memset.__doc__ = f"Fill device memory with an integer of {8 * itemsize} bits."
    return memset


memset_d8 = memset_d8_async = _memset(np.uint8)
memset_d16 = memset_d16_async = _memset(np.uint16)
memset_d32 = memset_d32_async = _memset(np.uint32)


def to_device(bf_obj: Any) -> DeviceAllocation:
    """Return new device memory with the bytes of an array or a buffer."""
    source = _host_bytes(np.ascontiguousarray(bf_obj) if isinstance(bf_obj, np.ndarray) else bf_obj)
    memory = mem_alloc(source.size)
    memcpy_htod(memory, source)
    return memory


def from_device(devptr: Any, shape: Any, dtype: Any, order: Any = "C") -> NDArray[Any]:
    """Return a copy of device memory as an array."""
    array = np.empty(shape, dtype, order)
    memcpy_dtoh(array, devptr)
    return array


def from_device_like(devptr: Any, other_ary: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of device memory as an array like another one."""
    array = np.empty_like(other_ary)
    memcpy_dtoh(array, devptr)
    return array


# ---- host memory -------------------------------------------------------------------------------


def pagelocked_empty(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new page-locked array; kernels take one with ``DEVICEMAP`` as an argument."""
    if mem_flags & host_alloc_flags.DEVICEMAP:
        return allocation.mapped_array(shape, dtype, order=order)
    return allocation.pinned_array(shape, dtype, order=order)


def pagelocked_zeros(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new page-locked array of zeros."""
    array = pagelocked_empty(shape, dtype, order, mem_flags)
    array.fill(0)
    return array


def managed_empty(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new managed array, which kernels access in place."""
    attach_global = not mem_flags & mem_attach_flags.HOST
    return allocation.managed_array(shape, dtype, order=order, attach_global=attach_global)


def managed_zeros(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new managed array of zeros."""
    array = managed_empty(shape, dtype, order, mem_flags)
    array.fill(0)
    return array


document_parameters(
    globals(),
    """
size : int | The number of bytes.
memset.size : int | The number of integers.
memset.data : int | The integer.
ary, other_ary : ndarray | An array with the size.
dest, src, devptr : DeviceAllocation, GPUArray or int | Device memory.
memcpy_dtoh.dest, memcpy_dtoh_async.dest : ndarray or buffer | Contiguous host memory.
memcpy_htod.src, memcpy_htod_async.src, bf_obj : ndarray or buffer | Contiguous host memory.
stream : Stream | The stream of the copy.
shape : int or tuple of int | The lengths of the axes.
dtype : dtype_like | The dtype of the elements.
order : {"C", "F"} | The order of the axes in memory.
mem_flags : int | ``host_alloc_flags`` or ``mem_attach_flags``.
""",
)
