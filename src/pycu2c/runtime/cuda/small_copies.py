"""Allocate buffers for the copies of small host arrays of a launch, which C code makes.

The buffers are device memory and pinned host memory. With them a launch needs one copy to the
device and one back; see ``plans/copies.c``. An allocation and a copy by Python for each array would
cost many times the launch.
"""

from __future__ import annotations

import ctypes
import functools
import struct

from pycu2c.cuda_driver import driver, libcuda
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory import DeviceMemory, PinnedMemory

SIZE = 4 << 20  # bytes, for all arrays of a launch
_BUFFER_RECORD = struct.Struct("@2P2q3P")  # the struct in plan.c


class StagingBuffers:
    """Device memory and pinned host memory for the copies of a launch."""

    __slots__ = ("_device", "_host", "_row")

    def __init__(self) -> None:
        self._device, self._host = DeviceMemory(SIZE), PinnedMemory(SIZE)
        names = "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"
        calls = [libcuda.address_of(name, of_stream=True) for name in names]
        row = _BUFFER_RECORD.pack(self._device.address, self._host.address, SIZE, 0, *calls)
        driver.synchronize()  # the memory is allocated for every stream
        self._row = ctypes.create_string_buffer(row, len(row))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._row)


def current_buffers() -> StagingBuffers | None:
    """Return the buffers of the current device.

    Returns None if memory is short, or if the memory cache is disabled.
    """
    return _buffers_of(driver.current_ordinal()) if memory_pool.caches_blocks() else None


@functools.cache
def _buffers_of(_: int) -> StagingBuffers | None:
    try:
        return StagingBuffers()
    except CudaError:
        return None
