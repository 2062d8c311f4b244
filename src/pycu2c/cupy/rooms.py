"""Memory for what the blocks of a reduction leave for the last of them, and counters of those that
are done. On a GPU it is kept for each stream, in which one kernel runs after the other."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.devices import copying
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime import driver

_COUNTERS = 1 << 14  # groups of rows that may be in parts
_KEPT: dict[tuple[int, int], tuple[DeviceArray, DeviceArray]] = {}


Room: TypeAlias = "tuple[Any, Any]"


def room_for(size: int, gpu: int, stream: Any) -> Room:
    """So many bytes, and counters that are 0; ``gpu``: -1 for the CPU."""
    if gpu < 0:
        return (np.empty(size, np.uint8), np.zeros(1, np.uint32)) if size else _NONE
    key = gpu, 0 if stream is None else driver.stream_of(stream)
    kept = _KEPT.get(key)
    if kept is None or kept[0].size < size:
        parts = copying.new((max(size, 1 << 16),), np.dtype(np.uint8), gpu)
        counters = kept[1] if kept else copying.new((_COUNTERS,), np.dtype(np.uint32), gpu)
        if kept is None:
            counters[...] = 0
        kept = _KEPT[key] = parts, counters
    return kept


_NONE: Room = np.empty(1, np.uint8), np.zeros(1, np.uint32)  # for work in one part
