"""Implement PyCUDA's host memory: page-locked and managed. Without a GPU it is pageable.

The functions return numpy arrays whose ``base`` is the allocation.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.enums import host_alloc_flags, mem_attach_flags
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.compat.pycuda.memory.allocations import OwnedMemory, PointerHolderBase, on_gpu
from pycu2c.cuda_driver import driver
from pycu2c.devices.allocation import ArrayLayout
from pycu2c.runtime.cuda.memory import HostMemory, ManagedMemory, Memory, PinnedMemory


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


def pagelocked_zeros(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new page-locked array of zeros."""
    array = pagelocked_empty(shape, dtype, order, mem_flags)
    array.fill(0)
    return array


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


def managed_zeros(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> NDArray[Any]:
    """Return a new managed array of zeros."""
    array = managed_empty(shape, dtype, order, mem_flags)
    array.fill(0)
    return array
