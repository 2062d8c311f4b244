"""Implement PyCUDA's memory pools by the driver's pool, which reuses freed memory."""

from __future__ import annotations

import weakref
from typing import Any

from numpy.typing import NDArray

from pycu2c.compat.pycuda.contexts import release_unused_memory
from pycu2c.compat.pycuda.memory.allocations import DeviceAllocation, OwnedMemory, mem_alloc
from pycu2c.compat.pycuda.memory.host_memory import PagelockedHostAllocation, pagelocked_empty

PooledDeviceAllocation, PooledHostAllocation = DeviceAllocation, PagelockedHostAllocation


class _Pool:
    """The counters of a pool, which holds no freed blocks itself."""

    held_blocks = 0

    def __init__(self) -> None:
        self._allocations = weakref.WeakSet[OwnedMemory]()

    def _sizes(self) -> list[int]:
        """Return the sizes of the allocations that are not freed."""
        memories = [each._memory for each in self._allocations]
        return [memory.size for memory in memories if memory is not None]

    @property
    def active_blocks(self) -> int:
        """Return the number of allocations that are not freed."""
        return len(self._sizes())

    @property
    def active_bytes(self) -> int:
        """Return the size of the allocations that are not freed."""
        return sum(self._sizes())

    managed_bytes = active_bytes

    def free_held(self) -> None:
        """Return unused memory of the driver's pool to the device."""
        release_unused_memory()

    stop_holding = free_held


class DeviceMemoryPool(_Pool):
    """A pool of device memory: ``pool.allocate`` replaces ``mem_alloc``."""

    def allocate(self, size: int) -> DeviceAllocation:
        """Return device memory."""
        allocation = mem_alloc(size or 1)
        self._allocations.add(allocation)
        return allocation

    __call__ = allocate


class PageLockedMemoryPool(_Pool):
    """A pool of page-locked host memory."""

    def allocate(self, shape: Any, dtype: Any, order: Any = "C") -> NDArray[Any]:
        """Return a new page-locked array."""
        array = pagelocked_empty(shape, dtype, order)
        allocation: Any = array.base
        self._allocations.add(allocation)
        return array
