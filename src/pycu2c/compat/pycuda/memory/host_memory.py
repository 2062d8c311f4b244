"""Implement PyCUDA's host memory: page-locked, aligned, managed. Without a GPU it is pageable.

The functions return numpy arrays whose ``base`` is the allocation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.enums import host_alloc_flags, mem_attach_flags
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.compat.pycuda.memory.allocations import OwnedMemory, PointerHolderBase, on_gpu
from pycu2c.cuda_driver import driver
from pycu2c.devices.allocation import ArrayLayout
from pycu2c.runtime.cuda.memory import HOST, HostMemory, ManagedMemory, Memory, PinnedMemory

_PAGE_SIZE = 4096


class HostPointer(OwnedMemory):
    """The host memory of an array."""

    def __init__(self, memory: Memory, layout: ArrayLayout) -> None:
        super().__init__(memory)
        self.__array_interface__ = array_interface(memory.address, layout)

    def get_device_pointer(self) -> int:
        """Return the address that kernels use. On the CPU, register it for bounds checks."""
        if not on_gpu():
            bounds_checks.add(self.memory.address, self.memory.size)
        return self.memory.address  # host and device addresses are equal

    def free(self) -> None:
        """Release the allocation; the memory is freed with its last array."""
        bounds_checks.remove(self.memory.address)
        self._memory = None

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._memory is not None and not finalizing():
            bounds_checks.remove(self._memory.address)


class PagelockedHostAllocation(HostPointer):
    """Page-locked memory."""

    def get_flags(self) -> int:
        """Return the flags of the allocation."""
        memory = self.memory
        in_place = isinstance(memory, PinnedMemory) and memory.in_place
        return int(host_alloc_flags.PORTABLE) | int(host_alloc_flags.DEVICEMAP) * in_place


class AlignedHostAllocation(HostPointer):
    """Aligned memory."""


class RegisteredHostMemory(HostPointer):
    """Page-locked memory that another object owns."""

    def __init__(self, memory: Memory, layout: ArrayLayout, owner: object) -> None:
        super().__init__(memory, layout)
        self.base = owner

    @translate_errors
    def unregister(self) -> None:
        """Undo the page lock."""
        if on_gpu():
            result = driver.api().cuMemHostUnregister(self.memory.address)
            driver.check(result, "unregister memory of the host")
        self._memory = None


class ManagedAllocation(HostPointer, PointerHolderBase):
    """Managed memory, which kernels and the host access at the same address."""

    def get_pointer(self) -> int:
        return self.get_device_pointer()

    @translate_errors
    def attach(self, mem_flags: int, stream: object = None) -> None:
        """Attach the memory to a stream."""
        if on_gpu():
            handle = driver.working_stream(stream)
            result = driver.api().cuStreamAttachMemAsync(handle, self.memory.address, 0, mem_flags)
            driver.check(result, "attach managed memory")


def array_interface(address: int, layout: ArrayLayout) -> dict[str, Any]:
    """Return the ``__array_interface__`` of memory."""
    interface: dict[str, Any] = {
        "shape": layout.shape,
        "strides": layout.strides,
        "typestr": layout.dtype.str,
        "data": (address or 256, False),  # numpy rejects null, also for an empty array
        "version": 3,
    }
    if layout.dtype.fields:
        interface["descr"] = layout.dtype.descr
    return interface


Allocator: TypeAlias = Callable[..., NDArray[Any]]


def _variants(empty: Allocator) -> tuple[Allocator, Allocator, Allocator]:
    """Return the functions ``zeros``, ``empty_like`` and ``zeros_like`` for ``empty``.

    All accept the last parameter of ``empty`` (``mem_flags`` or ``alignment``), by keyword or last.
    """

    def zeros(*args: Any, **kwargs: Any) -> NDArray[Any]:
        """Return a new array of zeros.

        Parameters
        ----------
        *args, **kwargs : object
            The arguments of the function for empty arrays.
        """
        array = empty(*args, **kwargs)
        array.fill(0)
        return array

    def empty_like(array: NDArray[Any], *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Return a new array with undefined elements like another one.

        Parameters
        ----------
        array : ndarray
            An array with the shape, dtype and order of the result.
        *args, **kwargs : object
            The last argument of the function for empty arrays.
        """
        return empty(array.shape, array.dtype, _order_of(array), *args, **kwargs)

    def zeros_like(array: NDArray[Any], *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Return a new array of zeros like another one.

        Parameters
        ----------
        array : ndarray
            An array with the shape, dtype and order of the result.
        *args, **kwargs : object
            The last argument of the function for empty arrays.
        """
        return zeros(array.shape, array.dtype, _order_of(array), *args, **kwargs)

    return zeros, empty_like, zeros_like


def _order_of(array: NDArray[Any]) -> str:
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("could not detect array order: it has gaps between its elements")


# ---- page-locked -------------------------------------------------------------------------------


@translate_errors
def pagelocked_empty(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new page-locked array, for asynchronous copies."""
    layout = ArrayLayout(shape, dtype, None, order)
    flags = host_alloc_flags(int(mem_flags))
    memory: Memory = (
        PinnedMemory(
            layout.size,
            in_place=host_alloc_flags.DEVICEMAP in flags,
            write_combined=host_alloc_flags.WRITECOMBINED in flags,
        )
        if on_gpu()
        else HostMemory(layout.size)
    )
    return np.asarray(PagelockedHostAllocation(memory, layout))


pagelocked_zeros, pagelocked_empty_like, pagelocked_zeros_like = _variants(pagelocked_empty)


# ---- aligned -----------------------------------------------------------------------------------


class _ArrayMemory(Memory):
    """Memory that a numpy array owns."""

    __slots__ = ("owner",)

    def __init__(self, owner: NDArray[Any], address: int, size: int) -> None:
        self.owner = owner
        super().__init__(address, size, HOST)


def aligned_empty(
    shape: Any, dtype: Any, order: Any = "C", alignment: int = _PAGE_SIZE
) -> NDArray[Any]:
    """Return a new array whose address is a multiple of ``alignment``."""
    layout = ArrayLayout(shape, dtype, None, order)
    buffer = np.empty(layout.size + alignment, np.uint8)
    start = -(-buffer.ctypes.data // alignment) * alignment
    return np.asarray(AlignedHostAllocation(_ArrayMemory(buffer, start, layout.size), layout))


aligned_zeros, aligned_empty_like, aligned_zeros_like = _variants(aligned_empty)


@translate_errors
def register_host_memory(ary: NDArray[Any], flags: int = 0) -> NDArray[Any]:
    """Return an array over the page-locked memory of an array; ``base.unregister()`` undoes the
    lock.
    """
    layout = ArrayLayout(ary.shape, ary.dtype, ary.strides, "C")
    if on_gpu():
        driver.make_current()
        result = driver.api().cuMemHostRegister(ary.ctypes.data, layout.size, int(flags))
        driver.check(result, f"pin {layout.size} bytes of the host")
    locked = _ArrayMemory(ary, ary.ctypes.data, layout.size)
    return np.asarray(RegisteredHostMemory(locked, layout, ary))


# ---- managed -----------------------------------------------------------------------------------


@translate_errors
def managed_empty(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new managed array, which kernels access in place."""
    layout = ArrayLayout(shape, dtype, None, order)
    everywhere = mem_attach_flags.HOST not in mem_attach_flags(int(mem_flags))
    memory: Memory = (
        ManagedMemory(layout.size, everywhere=everywhere) if on_gpu() else HostMemory(layout.size)
    )
    return np.asarray(ManagedAllocation(memory, layout))


managed_zeros, managed_empty_like, managed_zeros_like = _variants(managed_empty)
