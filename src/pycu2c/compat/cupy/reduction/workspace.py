"""Memory for what the blocks of a reduction leave for the last of them, and counters of those that
are done. On a GPU it is kept for each stream, in which one kernel runs after the other."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.cuda_driver import driver
from pycu2c.devices import copies
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.cuda.memory import HOST

_COUNTERS = 1 << 14  # groups of rows that may be in parts
_WORKSPACES: dict[tuple[int, int], tuple[DeviceArray, DeviceArray]] = {}


Workspace: TypeAlias = "tuple[Any, Any]"


def workspace_for(size: int, gpu: int, stream: Any) -> Workspace:
    """So many bytes, and counters that are 0; ``gpu``: -1 for the CPU."""
    if gpu < 0:
        return (np.empty(size, np.uint8), np.zeros(1, np.uint32)) if size else _EMPTY
    key = gpu, 0 if stream is None else driver.stream_of(stream)
    kept = _WORKSPACES.get(key)
    if kept is None or kept[0].size < size:
        parts = copies.new((max(size, 1 << 16),), np.dtype(np.uint8), gpu)
        counters = kept[1] if kept else copies.new((_COUNTERS,), np.dtype(np.uint32), gpu)
        if kept is None:
            counters[...] = 0
        kept = _WORKSPACES[key] = parts, counters
    return kept


class GraphWorkspace:
    """The room of one launch in a graph, which sets the counters to 0 before each: as a fill that
    is captured. On the CPU nobody else does it."""

    def __init__(self, gpu: int) -> None:
        self._ordinal = HOST if gpu < 0 else gpu
        count = 1 if gpu < 0 else _COUNTERS
        self._counters = copies.new((count,), np.dtype(np.uint32), self._ordinal)
        self._counters[...] = 0
        self._parts = copies.new((1,), np.dtype(np.uint8), self._ordinal)

    def of(self, size: int) -> Workspace:
        """So many bytes, and the counters."""
        if self._parts.size < size:
            self._parts = copies.new((size,), np.dtype(np.uint8), self._ordinal)
        return self._parts, self._counters


_EMPTY: Workspace = np.empty(1, np.uint8), np.zeros(1, np.uint32)  # for work in one part
