"""Implement PyCUDA's device memory: addresses that convert to int, copies, fills.

On a GPU memory is from the driver's pool. Without a GPU it is host memory, and copies check their
bounds.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.base import graph_capture
from pycu2c.compat.pycuda.errors import LogicError, translating
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.compat.pycuda.memory.host_buffers import flat_bytes
from pycu2c.cuda_driver import driver
from pycu2c.devices import copies, gpu_selection
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.strides import array_over
from pycu2c.runtime.cuda import staging
from pycu2c.runtime.cuda.memory import HOST, Memory

_PITCH = 512  # bytes; the alignment of rows


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
    """Memory until it is freed."""

    __slots__ = ("_memory",)

    def __init__(self, memory: Memory) -> None:
        self._memory: Memory | None = memory

    @property
    def memory(self) -> Memory:
        """Return the address. Raises LogicError if it was freed."""
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
            raise LogicError("the host does not reach memory of a GPU: copy it by memcpy_dtoh")
        bounds_checks.check(self.get_pointer() + offset, size, "as_buffer")
        return super().as_buffer(size, offset)

    def free(self) -> None:
        """Free the memory now."""
        self._forget()
        self._memory = None

    def _forget(self) -> None:
        if self.memory.ordinal == HOST:
            bounds_checks.remove(self.memory.address)

    def __repr__(self) -> str:
        if self._memory is None:
            return "<DeviceAllocation, freed>"
        return f"<DeviceAllocation of {self.size} bytes at {int(self):#x}>"

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._memory is not None and not finalizing():
            with contextlib.suppress(Exception):
                self._forget()


# ---- allocation --------------------------------------------------------------------------------


@translating
def mem_alloc(size: int) -> DeviceAllocation:
    """Allocate device memory."""
    count = operator.index(size)
    if count <= 0:
        raise LogicError(f"mem_alloc: memory has bytes, and {count} are asked for")
    return DeviceAllocation(copies.new_memory(count, gpu_selection.ordinal_of(None)))


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Allocate as many bytes as an array has."""
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width: int, height: int, access_size: int = 4) -> tuple[DeviceAllocation, int]:
    """Allocate aligned rows; return the memory and the bytes from one row to the next."""
    if access_size not in (4, 8, 16):
        raise LogicError(f"mem_alloc_pitch: access_size is 4, 8 or 16, not {access_size}")
    pitch = -(-width // _PITCH) * _PITCH
    return mem_alloc(pitch * height), pitch


@translating
def mem_get_info() -> tuple[int, int]:
    """Return the free and the total bytes."""
    free, total = gpu_selection.get_current_device().memory
    return free, total


def pointer(given: Any) -> int:
    """Convert an int, memory or device array to an address. Raises TypeError."""
    if hasattr(given, "__index__"):
        return operator.index(given)
    held = getattr(given, "gpudata", None)
    if held is not None:
        return operator.index(held)
    if isinstance(given, DeviceArray) and (given.device == HOST) != on_gpu():
        return given.address
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is not None:
        return int(interface["data"][0])
    raise TypeError(
        f"memory of the device is an allocation, a GPUArray or an address, not {given!r}"
    )


def _check(given: Any, address: int, size: int, doing: str) -> None:
    """Check that a range is device memory: of a device array or an allocation. Raises LogicError.

    On a GPU only known memory is checked; the driver checks the rest.
    """
    if on_gpu():
        memory = _memory_of(given)
        if isinstance(memory, Memory) and address + size > memory.address + memory.size:
            bounds_checks.refuse(address, size, memory.address + memory.size, doing)
    elif not isinstance(given, DeviceArray) or size > given.nbytes:
        bounds_checks.check(address, size, doing)


def used_on(stream: object, *given: Any) -> None:
    """Keep memory alive until a stream has used it.

    The driver synchronizes when memory is freed; here it is freed in the order of the default
    stream. A graph that is being captured keeps the memory.
    """
    capture = graph_capture.current()
    if capture is None and (stream is None or getattr(stream, "blocking", False)):
        return
    for memory in map(_memory_of, given):
        if capture is not None and memory is not None:
            capture.use(memory)
        elif isinstance(memory, Memory):
            memory.used_on(stream)


def _memory_of(given: Any) -> object:
    """Return the object that keeps the memory of an argument alive; None for a number."""
    if isinstance(given, DeviceAllocation):
        return given.memory
    if isinstance(given, PointerHolderBase):
        return given
    array = given.device_array() if hasattr(given, "device_array") else given
    return array._memory if isinstance(array, DeviceArray) else None


# ---- copies ------------------------------------------------------------------------------------


def _stream(stream: object) -> int:
    driver.make_current()
    return driver.working_stream(stream)


def _move(target: Any, source: Any, size: int) -> None:
    """Copy host memory, now or in each launch of a captured graph."""
    to, from_ = (each if isinstance(each, int) else each.ctypes.data for each in (target, source))
    kept = target, source
    graph_capture.run_on_host(lambda: ctypes.memmove(to, from_, size) and kept)


@translating
def memcpy_htod(dest: Any, src: Any) -> None:
    """Copy host memory to the device."""
    _copy_in(dest, src, None, wait=True)


@translating
def memcpy_htod_async(dest: Any, src: Any, stream: object = None) -> None:
    """Copy host memory to the device, in a stream."""
    _copy_in(dest, src, stream, wait=False)


def _copy_in(dest: Any, src: Any, stream: object, *, wait: bool) -> None:
    source, target = flat_bytes(src), pointer(dest)
    used_on(stream, dest)
    _check(dest, target, source.nbytes, "memcpy_htod")
    if wait:
        graph_capture.reject_synchronization("memcpy_htod")
    if not on_gpu():
        _move(target, source, source.nbytes)
        return
    handle = _stream(stream)
    staging.copy_in(target, source.ctypes.data, source.nbytes, handle)
    if wait:
        driver.synchronize(handle, "memcpy_htod")


@translating
def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Copy device memory to the host."""
    _copy_out(dest, src, None, wait=True)


@translating
def memcpy_dtoh_async(dest: Any, src: Any, stream: object = None) -> None:
    """Copy device memory to the host, in a stream."""
    _copy_out(dest, src, stream, wait=False)


def _copy_out(dest: Any, src: Any, stream: object, *, wait: bool) -> None:
    target, source = flat_bytes(dest, written=True), pointer(src)
    used_on(stream, src)
    _check(src, source, target.nbytes, "memcpy_dtoh")
    if wait:
        graph_capture.reject_synchronization("memcpy_dtoh")
    if not on_gpu():
        _move(target, source, target.nbytes)
        return
    handle = _stream(stream)
    staging.copy_out(target.ctypes.data, source, target.nbytes, handle)
    if wait:
        driver.synchronize(handle, "memcpy_dtoh")


@translating
def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copy device memory to device memory."""
    memcpy_dtod_async(dest, src, size)


@translating
def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: object = None) -> None:
    """Copy device memory to device memory, in a stream."""
    target, source = pointer(dest), pointer(src)
    used_on(stream, dest, src)
    _check(src, source, size, "memcpy_dtod")
    _check(dest, target, size, "memcpy_dtod")
    if not on_gpu():
        _move(target, source, size)
        return
    handle = _stream(stream)
    driver.copy_within(target, source, size, handle)


def memcpy_peer(
    dest: Any, src: Any, size: int, dest_context: object = None, src_context: object = None
) -> None:
    """Copy memory between devices, which follow from the addresses."""
    memcpy_dtod(dest, src, size)


def memcpy_peer_async(
    dest: Any,
    src: Any,
    size: int,
    dest_context: object = None,
    src_context: object = None,
    stream: object = None,
) -> None:
    """Copy memory between devices, in a stream."""
    memcpy_dtod_async(dest, src, size, stream)


# ---- fills -------------------------------------------------------------------------------------


@translating
def _fill(dest: Any, pattern: NDArray[Any], count: int, stream: object) -> None:
    target = pointer(dest)
    used_on(stream, dest)
    _check(dest, target, count * pattern.itemsize, "memset")
    if not on_gpu():
        filled = array_over(target, ((count,), (pattern.itemsize,), pattern.dtype))
        graph_capture.run_on_host(lambda: filled.fill(pattern))
        return
    handle = _stream(stream)
    driver.fill(target, pattern.tobytes(), count, handle)


def memset_d8(dest: Any, data: int, size: int) -> None:
    """Fill bytes."""
    _fill(dest, np.array(data, np.uint8), size, None)


def memset_d16(dest: Any, data: int, size: int) -> None:
    """Fill ``size`` numbers of 16 bits."""
    _fill(dest, np.array(data, np.uint16), size, None)


def memset_d32(dest: Any, data: int, size: int) -> None:
    """Fill ``size`` numbers of 32 bits."""
    _fill(dest, np.array(data, np.uint32), size, None)


def memset_d8_async(dest: Any, data: int, size: int, stream: object = None) -> None:
    """Fill bytes, in a stream."""
    _fill(dest, np.array(data, np.uint8), size, stream)


def memset_d16_async(dest: Any, data: int, size: int, stream: object = None) -> None:
    """Fill numbers of 16 bits, in a stream."""
    _fill(dest, np.array(data, np.uint16), size, stream)


def memset_d32_async(dest: Any, data: int, size: int, stream: object = None) -> None:
    """Fill numbers of 32 bits, in a stream."""
    _fill(dest, np.array(data, np.uint32), size, stream)


def _fill_rows(dest: Any, pitch: int, pattern: NDArray[Any], width: int, height: int) -> None:
    for row in range(height):
        _fill(pointer(dest) + row * pitch, pattern, width, None)


def memset_d2d8(dest: Any, pitch: int, data: int, width: int, height: int) -> None:
    """Fill the first bytes of each row."""
    _fill_rows(dest, pitch, np.array(data, np.uint8), width, height)


def memset_d2d16(dest: Any, pitch: int, data: int, width: int, height: int) -> None:
    """Fill the first 16-bit numbers of each row."""
    _fill_rows(dest, pitch, np.array(data, np.uint16), width, height)


def memset_d2d32(dest: Any, pitch: int, data: int, width: int, height: int) -> None:
    """Fill the first 32-bit numbers of each row."""
    _fill_rows(dest, pitch, np.array(data, np.uint32), width, height)


# ---- whole arrays ------------------------------------------------------------------------------


def to_device(bf_obj: Any) -> DeviceAllocation:
    """Copy an array or a buffer to new device memory."""
    packed = flat_bytes(np.ascontiguousarray(bf_obj) if isinstance(bf_obj, np.ndarray) else bf_obj)
    made = mem_alloc(packed.nbytes)
    memcpy_htod(made, packed)
    return made


def from_device(devptr: Any, shape: Any, dtype: Any, order: Any = "C") -> NDArray[Any]:
    """Copy device memory to a new array."""
    made = np.empty(shape, dtype, order)
    memcpy_dtoh(made, devptr)
    return made


def from_device_like(devptr: Any, other_ary: NDArray[Any]) -> NDArray[Any]:
    """Copy device memory to a new array with the shape and dtype of another array."""
    made = np.empty_like(other_ary)
    memcpy_dtoh(made, devptr)
    return made
