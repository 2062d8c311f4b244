"""The staging buffer of a device: where small arrays of the host have copies for one launch.

It is memory of the device, and as much pinned memory of the host. A driver call for each array, one
more for its memory, and Python in between take many times as long as the launch. Here one copy
brings all arrays to the device, and one brings back what is written (``native/small_copies.c``).
"""

from __future__ import annotations

import functools

from pycu2c.cuda_driver import driver, libcuda
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.native.extension import UNAVAILABLE, StagingBuffer
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory import DeviceMemory, PinnedMemory

SIZE = 4 << 20  # bytes: of the arrays of a launch together
_CALLS = "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"


def staging_buffer() -> StagingBuffer | None:
    """Return that of the current device; None where memory is short, where each array is to have
    memory of its own, or without the extension, which alone uses it."""
    if UNAVAILABLE or not memory_pool.caches_blocks():
        return None
    return _on(driver.current_ordinal())


@functools.cache
def _on(_: int) -> StagingBuffer | None:
    try:
        device, host = DeviceMemory(SIZE), PinnedMemory(SIZE)
    except CudaError:
        return None
    calls = [libcuda.address_of(name, of_stream=True) for name in _CALLS]
    driver.synchronize()  # the memory is allocated for every stream
    return StagingBuffer((device, host), SIZE, device.address, host.address, *calls)
