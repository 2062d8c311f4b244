"""Implement PyCUDA's memory pools, which reuse freed memory for allocations of similar size."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.contexts import release_unused_memory
from pycu2c.compat.pycuda.errors import LogicError, MemoryError
from pycu2c.compat.pycuda.memory.allocations import DeviceAllocation, PointerHolderBase, mem_alloc
from pycu2c.compat.pycuda.memory.host_memory import array_interface, pagelocked_empty
from pycu2c.devices.allocation import ArrayLayout

_MANTISSA_BITS = 2  # bits of a size after the highest; they select the bin
M = TypeVar("M")


def bitlog2(value: int) -> int:
    """Return the position of the highest bit."""
    return value.bit_length() - 1


class _Pool(Generic[M]):
    """Free blocks by size, in four bins per power of two."""

    def __init__(self, allocate: Callable[[int], M]) -> None:
        self._allocate_block = allocate
        self._bins: dict[int, list[M]] = defaultdict(list)
        self._keeps_freed_blocks = True
        self.active_blocks = self.held_blocks = 0
        self.managed_bytes = self.active_bytes = 0

    @staticmethod
    def bin_number(size: int) -> int:
        """Return the bin of a size."""
        exponent = bitlog2(max(size, 1))
        shift = exponent - _MANTISSA_BITS
        mantissa = size >> shift if shift >= 0 else size << -shift
        return exponent << _MANTISSA_BITS | (mantissa & ((1 << _MANTISSA_BITS) - 1))

    @staticmethod
    def alloc_size(bin_nr: int) -> int:
        """Return the maximum size of a bin, which is the size of all its blocks."""
        exponent, fraction = bin_nr >> _MANTISSA_BITS, bin_nr & ((1 << _MANTISSA_BITS) - 1)
        shift = exponent - _MANTISSA_BITS
        mantissa = (1 << _MANTISSA_BITS) | fraction
        if shift < 0:
            return max(mantissa >> -shift, 1)
        return (mantissa << shift) | ((1 << shift) - 1)

    def take(self, size: int) -> tuple[M, int]:
        """Return a block of at least that size, and its bin."""
        if size < 0:
            raise LogicError(f"the size must not be negative: {size}")
        bin_nr = self.bin_number(size)
        block = self._take_block(bin_nr)
        self.active_blocks += 1
        self.active_bytes += self.alloc_size(bin_nr)
        return block, bin_nr

    def _take_block(self, bin_nr: int) -> M:
        if self._bins[bin_nr]:
            self.held_blocks -= 1
            return self._bins[bin_nr].pop()
        size = self.alloc_size(bin_nr)
        try:
            block = self._allocate_block(size)
        except MemoryError:
            self.free_held()
            block = self._allocate_block(size)
        self.managed_bytes += size
        return block

    def put_back(self, block: M, bin_nr: int) -> None:
        """Add a free block."""
        self.active_blocks -= 1
        self.active_bytes -= self.alloc_size(bin_nr)
        if self._keeps_freed_blocks:
            self._bins[bin_nr].append(block)
            self.held_blocks += 1
        else:
            self.managed_bytes -= self.alloc_size(bin_nr)

    def free_held(self) -> None:
        """Free all unused blocks."""
        for bin_nr, blocks in self._bins.items():
            self.managed_bytes -= self.alloc_size(bin_nr) * len(blocks)
            blocks.clear()
        self.held_blocks = 0
        release_unused_memory()

    def stop_holding(self) -> None:
        """Free blocks immediately from now on."""
        self._keeps_freed_blocks = False
        self.free_held()


class _PooledMemory(Generic[M]):
    """A block that returns to its pool."""

    def __init__(self, pool: _Pool[M], size: int) -> None:
        self._block: M | None = None
        self._pool, self.size = pool, size
        self._block, self._bin_nr = pool.take(size)

    @property
    def block(self) -> M:
        """Return the block. Raises LogicError if it was freed."""
        if self._block is None:
            raise LogicError("this memory was freed")
        return self._block

    def free(self) -> None:
        """Return the memory to the pool now: it must not be used any more."""
        block, self._block = self.block, None
        self._pool.put_back(block, self._bin_nr)

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._block is not None and not finalizing():
            self.free()


class PooledDeviceAllocation(_PooledMemory[DeviceAllocation], PointerHolderBase):
    """Device memory that returns to its pool."""

    def get_pointer(self) -> int:
        return int(self.block)

    def __len__(self) -> int:
        return self.size


class DeviceMemoryPool(_Pool[DeviceAllocation]):
    """A pool of device memory: ``pool.allocate`` replaces ``mem_alloc``."""

    def __init__(self) -> None:
        super().__init__(mem_alloc)

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """Return memory from the pool."""
        return PooledDeviceAllocation(self, size)

    __call__ = allocate


class PooledHostAllocation(_PooledMemory[NDArray[np.uint8]]):
    """The host memory of an array, which returns to its pool."""

    def __init__(self, pool: PageLockedMemoryPool, layout: ArrayLayout) -> None:
        super().__init__(pool, layout.size)
        self.__array_interface__ = array_interface(self.block.ctypes.data, layout)


class PageLockedMemoryPool(_Pool[NDArray[np.uint8]]):
    """A pool of page-locked host memory."""

    def __init__(self) -> None:
        super().__init__(lambda size: pagelocked_empty(size, np.uint8))

    def allocate(self, shape: Any, dtype: Any, order: Any = "C") -> NDArray[Any]:
        """Return a new array, whose memory returns to the pool."""
        return np.asarray(PooledHostAllocation(self, ArrayLayout(shape, dtype, None, order)))
