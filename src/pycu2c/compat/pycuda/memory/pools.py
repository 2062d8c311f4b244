"""Implement PyCUDA's memory pools by the driver's pool, which reuses freed memory."""

from __future__ import annotations

import weakref

from pycu2c.compat.pycuda.contexts import release_unused_memory
from pycu2c.compat.pycuda.memory.allocations import DeviceAllocation, mem_alloc


class DeviceMemoryPool:
    """A pool of device memory: ``pool.allocate`` replaces ``mem_alloc``."""

    held_blocks = 0

    def __init__(self) -> None:
        self._allocations = weakref.WeakSet[DeviceAllocation]()

    def allocate(self, size: int) -> DeviceAllocation:
        """Return device memory."""
        allocation = mem_alloc(size or 1)
        self._allocations.add(allocation)
        return allocation

    __call__ = allocate

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
