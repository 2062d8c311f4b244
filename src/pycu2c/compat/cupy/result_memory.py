"""Recycle the memory of large results on the CPU.

The first write to fresh memory causes page faults, which take about as long as a kernel.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from pycu2c.runtime.arguments.strides import Shape, array_over, packed_strides

_MIN_BYTES = 1 << 20  # larger allocations are fresh pages from the system
_MAX_BYTES = 1 << 27  # limit of the free list
_FREE_BLOCKS: dict[int, list[Any]] = {}  # by size in bytes
_held_bytes = [0]  # total size of the free list


class _Block:
    """A block of memory that returns to the free list with its last array."""

    __slots__ = ("bytes",)

    def __init__(self, size: int) -> None:
        try:
            self.bytes = _FREE_BLOCKS[size].pop()
        except (KeyError, IndexError):
            self.bytes = np.empty(size, np.uint8)
        else:
            _held_bytes[0] -= size

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if finalizing():
            return
        size = self.bytes.size
        if _held_bytes[0] + size <= _MAX_BYTES:
            _held_bytes[0] += size
            _FREE_BLOCKS.setdefault(size, []).append(self.bytes)


def empty(shape: Shape, dtype: np.dtype[Any], _: Any = None) -> np.ndarray[Any, Any]:
    """Return an uninitialized array; a large one uses recycled memory if possible."""
    size = math.prod(shape) * dtype.itemsize
    if size < _MIN_BYTES:
        return np.empty(shape, dtype)
    block = _Block(size)
    address = block.bytes.__array_interface__["data"][0]
    layout = tuple(shape), packed_strides(tuple(shape), dtype.itemsize), dtype
    return array_over(address, layout, writeable=True, memory=block)
