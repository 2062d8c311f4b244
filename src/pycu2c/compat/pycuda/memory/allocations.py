"""Implement PyCUDA's device memory: addresses that convert to int, copies, fills.

On a GPU memory is from the driver's pool. Without a GPU it is host memory, and copies check their
bounds.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.base import graph_capture
from pycu2c.compat.pycuda.errors import LogicError, translate_errors
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.cuda_driver import driver
from pycu2c.devices import gpu_selection
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.strides import array_over
from pycu2c.runtime.cuda import memory as cuda_memory
from pycu2c.runtime.cuda import staging
from pycu2c.runtime.cuda.memory import HOST, Memory


def on_gpu() -> bool:
    """Return whether the device is a GPU, not the CPU."""
    return driver.available()


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

    def __sub__(self, offset: int) -> int:
        return self.get_pointer() - operator.index(offset)

    @property
    def gpudata(self) -> int:
        """Return the address, under GPUArray's name for it."""
        return self.get_pointer()

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """Return a buffer over host memory."""
        address = self.get_pointer() + offset
        return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


class OwnedMemory:
    """A reference to memory, which ``free`` removes."""

    __slots__ = ("_memory",)

    def __init__(self, memory: Memory) -> None:
        self._memory: Memory | None = memory

    @property
    def memory(self) -> Memory:
        """Return the memory. Raises LogicError if it was freed."""
        if self._memory is None:
            raise LogicError("this memory was freed")
        return self._memory

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return self.memory.size


class DeviceAllocation(OwnedMemory, PointerHolderBase):
    """Device memory, which is freed with this object or by ``free()``."""

    __slots__ = ("__weakref__",)

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        if memory.ordinal == HOST:
            bounds_checks.add(memory.address, memory.size)

    def get_pointer(self) -> int:
        return self.memory.address

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        if self.memory.ordinal != HOST:
            raise LogicError("the host cannot access memory of a GPU: copy it with memcpy_dtoh")
        bounds_checks.check(self.get_pointer() + offset, size, "as_buffer")
        return super().as_buffer(size, offset)

    def free(self) -> None:
        """Free the memory now."""
        self._unregister()
        self._memory = None

    def _unregister(self) -> None:
        if self.memory.ordinal == HOST:
            bounds_checks.remove(self.memory.address)

    def __repr__(self) -> str:
        if self._memory is None:
            return "<DeviceAllocation, freed>"
        return f"<DeviceAllocation of {self.size} bytes at {int(self):#x}>"

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._memory is not None and not finalizing():
            with contextlib.suppress(Exception):
                self._unregister()


# ---- allocation --------------------------------------------------------------------------------


@translate_errors
def mem_alloc(size: int) -> DeviceAllocation:
    """Return new device memory.

    Raises
    ------
    LogicError
        If the size is not positive.
    MemoryError
        If there is not enough memory.
    """
    count = operator.index(size)
    if count <= 0:
        raise LogicError(f"mem_alloc: the size must be positive, not {count}")
    return DeviceAllocation(cuda_memory.allocate(count, gpu_selection.ordinal_of(None)))


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Return device memory of as many bytes as an array has."""
    return mem_alloc(ary.nbytes)


@translate_errors
def mem_get_info() -> tuple[int, int]:
    """Return the free and the total bytes."""
    free, total = gpu_selection.get_current_device().memory
    return free, total


def pointer(value: Any) -> int:
    """Convert an int, memory or device array to an address. Raises TypeError."""
    if hasattr(value, "__index__"):
        return operator.index(value)
    gpudata = getattr(value, "gpudata", None)
    if gpudata is not None:
        return operator.index(gpudata)
    if isinstance(value, DeviceArray) and (value.device == HOST) != on_gpu():
        return value.address
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return int(interface["data"][0])
    raise TypeError(f"device memory must be an allocation, a GPUArray or an address, not {value!r}")


def _check_range(value: Any, address: int, size: int, operation: str) -> None:
    """Check that a range is device memory: of a device array or an allocation. Raises LogicError.

    On a GPU only the memory of arrays and allocations is checked; the driver checks the rest.
    """
    if on_gpu():
        memory = _memory_of(value)
        if isinstance(memory, Memory) and address + size > memory.address + memory.size:
            bounds_checks.reject(address, size, memory.address + memory.size, operation)
    elif not isinstance(value, DeviceArray) or size > value.nbytes:
        bounds_checks.check(address, size, operation)


def keep_until_used(stream: object, *values: Any) -> None:
    """Keep memory alive until a stream has used it.

    The driver's function that frees memory synchronizes; here memory is freed in the order of
    the default stream. A graph that is being captured keeps the memory.
    """
    capture = graph_capture.current()
    if capture is None and (stream is None or getattr(stream, "blocking", False)):
        return
    for memory in map(_memory_of, values):
        if capture is not None and memory is not None:
            capture.use(memory)
        elif isinstance(memory, Memory):
            memory.used_on(stream)


def _memory_of(value: Any) -> object:
    """Return the object that keeps the memory of an argument alive; None for a number."""
    if isinstance(value, DeviceAllocation):
        return value.memory
    if isinstance(value, PointerHolderBase):
        return value
    array = value.device_array() if hasattr(value, "device_array") else value
    return array._memory if isinstance(array, DeviceArray) else None


# ---- host buffers ------------------------------------------------------------------------------


def flat_bytes(buffer: Any, *, written: bool = False) -> NDArray[np.uint8]:
    """Return the bytes of a contiguous array or buffer. Raises TypeError, ValueError."""
    array = buffer if isinstance(buffer, np.ndarray) else _as_array(buffer)
    if written and not array.flags.writeable:
        raise TypeError("the target array is read-only")
    if array.size and not array.flags.c_contiguous:
        array = array.T if array.flags.f_contiguous else _contiguous_view(array)
    return array.reshape(-1).view(np.uint8)


def _as_array(buffer: Any) -> NDArray[Any]:
    if isinstance(buffer, np.generic):
        return np.asarray(buffer)
    try:
        return np.frombuffer(memoryview(buffer), np.uint8)
    except TypeError:
        raise TypeError(
            f"copies take a numpy array or another buffer of the host, not {type(buffer).__name__}"
        ) from None


def _contiguous_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with its axes in memory order; its memory must be contiguous."""
    order = np.argsort([-abs(stride) for stride in array.strides], kind="stable")
    dense = array.transpose(order)
    if not dense.flags.c_contiguous:
        raise ValueError("the array has gaps between its elements: pass np.ascontiguousarray(a)")
    return dense


# ---- copies ------------------------------------------------------------------------------------


def _transfer(
    copy_on_gpu: Callable[[int, int, int, int], None],
    target: Any,
    source: Any,
    size: int,
    stream: object,
) -> None:
    """Copy between addresses or host arrays, in a stream or in each launch of a captured graph."""
    target_address, source_address = (
        each if isinstance(each, int) else each.ctypes.data for each in (target, source)
    )
    if on_gpu():
        copy_on_gpu(target_address, source_address, size, _handle_of(stream))
        return
    kept = target, source  # the function keeps them alive as long as the graph
    graph_capture.run_on_host(lambda: ctypes.memmove(target_address, source_address, size) and kept)


def _handle_of(stream: object) -> int:
    """Return the driver's handle of a stream, after making the context current."""
    driver.make_current()
    return driver.working_stream(stream)


def _wait(operation: str) -> None:
    """Wait for the default stream; name the operation in errors."""
    if on_gpu():
        driver.synchronize(_handle_of(None), operation)


@translate_errors
def memcpy_htod(dest: Any, src: Any) -> None:
    """Copy host memory to the device."""
    graph_capture.reject_during_capture("memcpy_htod")
    memcpy_htod_async(dest, src)
    _wait("memcpy_htod")


@translate_errors
def memcpy_htod_async(dest: Any, src: Any, stream: object = None) -> None:
    """Copy host memory to the device, in a stream."""
    source, target = flat_bytes(src), pointer(dest)
    keep_until_used(stream, dest)
    _check_range(dest, target, source.nbytes, "memcpy_htod")
    _transfer(staging.copy_in, target, source, source.nbytes, stream)


@translate_errors
def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Copy device memory to the host."""
    graph_capture.reject_during_capture("memcpy_dtoh")
    memcpy_dtoh_async(dest, src)
    _wait("memcpy_dtoh")


@translate_errors
def memcpy_dtoh_async(dest: Any, src: Any, stream: object = None) -> None:
    """Copy device memory to the host, in a stream."""
    target, source = flat_bytes(dest, written=True), pointer(src)
    keep_until_used(stream, src)
    _check_range(src, source, target.nbytes, "memcpy_dtoh")
    _transfer(staging.copy_out, target, source, target.nbytes, stream)


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copy device memory to device memory."""
    memcpy_dtod_async(dest, src, size)


@translate_errors
def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: object = None) -> None:
    """Copy device memory to device memory, in a stream."""
    target, source = pointer(dest), pointer(src)
    keep_until_used(stream, dest, src)
    _check_range(src, source, size, "memcpy_dtod")
    _check_range(dest, target, size, "memcpy_dtod")
    _transfer(driver.copy_within, target, source, size, stream)


# ---- fills -------------------------------------------------------------------------------------


def _memset(dtype: Any) -> Callable[..., None]:
    """Return a function that fills memory with an integer of a dtype."""

    @translate_errors
    def memset(dest: Any, data: int, size: int, stream: object = None) -> None:
        pattern, target = np.array(data, dtype), pointer(dest)
        keep_until_used(stream, dest)
        _check_range(dest, target, size * pattern.itemsize, "memset")
        if on_gpu():
            driver.fill(target, pattern.tobytes(), size, _handle_of(stream))
            return
        filled = array_over(target, ((size,), (pattern.itemsize,), pattern.dtype))
        graph_capture.run_on_host(lambda: filled.fill(pattern))

    bits = 8 * np.dtype(dtype).itemsize
    memset.__doc__ = f"Fill device memory with an integer of {bits} bits."
    return memset


memset_d8 = memset_d8_async = _memset(np.uint8)
memset_d16 = memset_d16_async = _memset(np.uint16)
memset_d32 = memset_d32_async = _memset(np.uint32)


# ---- whole arrays ------------------------------------------------------------------------------


def to_device(bf_obj: Any) -> DeviceAllocation:
    """Return new device memory with the bytes of an array or a buffer."""
    packed = flat_bytes(np.ascontiguousarray(bf_obj) if isinstance(bf_obj, np.ndarray) else bf_obj)
    memory = mem_alloc(packed.nbytes)
    memcpy_htod(memory, packed)
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
