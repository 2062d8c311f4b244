"""Memory that results were in and nobody has any more, for the next results on the CPU: memory that
is fresh from the system takes as long as a kernel takes to fill it. Knows no kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pycu2c.runtime.arguments.strides import Shape, array_over, packed_strides

_LARGE = 1 << 20  # bytes from which on the system gives memory that was never touched
_MOST = 1 << 27  # bytes that are kept
_FREE: dict[int, list[Any]] = {}  # by size
_held = [0]  # bytes in them


class _Block:
    """Bytes that come back when the last array over them goes."""

    __slots__ = ("bytes",)

    def __init__(self, size: int) -> None:
        try:
            self.bytes = _FREE[size].pop()
        except (KeyError, IndexError):
            self.bytes = np.empty(size, np.uint8)
        else:
            _held[0] -= size

    def __del__(self) -> None:
        size = self.bytes.size
        if _held[0] + size <= _MOST:
            _held[0] += size
            _FREE.setdefault(size, []).append(self.bytes)


def empty(shape: Shape, dtype: np.dtype[Any], _: Any = None) -> np.ndarray[Any, Any]:
    """``numpy.empty``."""
    size = math.prod(shape) * dtype.itemsize
    if size < _LARGE:
        return np.empty(shape, dtype)
    block = _Block(size)
    address = block.bytes.__array_interface__["data"][0]
    form = tuple(shape), packed_strides(tuple(shape), dtype.itemsize), dtype
    return array_over(address, form, writeable=True, memory=block)
