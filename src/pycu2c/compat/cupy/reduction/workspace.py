"""Allocate memory for partial results of a reduction, and counters of finished blocks.

On a GPU there is one workspace per stream, because kernels of a stream do not overlap.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.cuda_driver import driver
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.cuda.memory import HOST

_COUNTERS = 1 << 14  # maximum number of row groups that several blocks share
_WORKSPACES: dict[tuple[int, int], tuple[DeviceArray, DeviceArray]] = {}


Workspace: TypeAlias = "tuple[Any, Any]"


def workspace_for(size: int, gpu: int, stream: Any) -> Workspace:
    """Return memory of ``size`` bytes, and counters that are 0.

    ``gpu`` is the ordinal of the GPU, or -1 for the CPU.
    """
    if gpu < 0:
        return (np.empty(size, np.uint8), np.zeros(1, np.uint32)) if size else _EMPTY
    key = gpu, 0 if stream is None else driver.stream_of(stream)
    workspace = _WORKSPACES.get(key)
    if workspace is None or workspace[0].size < size:
        partials = DeviceArray.empty((max(size, 1 << 16),), np.dtype(np.uint8), gpu)
        counters = (
            workspace[1] if workspace else DeviceArray.empty((_COUNTERS,), np.dtype(np.uint32), gpu)
        )
        if workspace is None:
            counters[...] = 0
        workspace = _WORKSPACES[key] = partials, counters
    return workspace


class GraphWorkspace:
    """The workspace of a launch in a graph. A captured fill resets the counters before each
    launch."""

    def __init__(self, gpu: int) -> None:
        self._ordinal = HOST if gpu < 0 else gpu
        count = 1 if gpu < 0 else _COUNTERS
        self._counters = DeviceArray.empty((count,), np.dtype(np.uint32), self._ordinal)
        self._counters[...] = 0
        self._partials = DeviceArray.empty((1,), np.dtype(np.uint8), self._ordinal)

    def with_size(self, size: int) -> Workspace:
        """Return memory of ``size`` bytes or more, and the counters."""
        if self._partials.size < size:
            self._partials = DeviceArray.empty((size,), np.dtype(np.uint8), self._ordinal)
        return self._partials, self._counters


_EMPTY: Workspace = np.empty(1, np.uint8), np.zeros(1, np.uint32)  # without partial results
