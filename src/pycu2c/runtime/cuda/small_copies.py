"""Where small arrays of the host have copies for one launch: memory of the device, and as much
of the host that it reads by itself. The copying is C's (``plans/copies.c``).

A call of the driver for each array, one more for its memory, and Python in between cost many times
the launch. Here one copy takes all arrays there, and one brings back what is written.
"""

from __future__ import annotations

import ctypes
import functools
import struct

from pycu2c.cuda_driver import driver, libcuda
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory import DeviceMemory, PinnedMemory

SIZE = 4 << 20  # bytes: of the arrays of a launch together
_ROW = struct.Struct("@2P2q3P")  # as in plan.c


class Copies:
    """A room of this kind."""

    __slots__ = ("_device", "_host", "_row")

    def __init__(self) -> None:
        self._device, self._host = DeviceMemory(SIZE), PinnedMemory(SIZE)
        names = "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"
        calls = [libcuda.address_of(name, of_stream=True) for name in names]
        row = _ROW.pack(self._device.address, self._host.address, SIZE, 0, *calls)
        driver.synchronize()  # the memory is there for every stream
        self._row = ctypes.create_string_buffer(row, len(row))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._row)


def here() -> Copies | None:
    """That of the device which the thread is on. There is none where memory is short, nor where
    each array is to have memory of its own."""
    return _on(driver.current_ordinal()) if memory_pool.keeps_blocks() else None


@functools.cache
def _on(_: int) -> Copies | None:
    try:
        return Copies()
    except CudaError:
        return None
