"""Own allocations of device and host memory; each object frees its allocation.

Device memory is allocated from the driver's pool, and freed, in the order of the default stream.
Work in that stream, and in streams that synchronize with it, needs no further ordering. Launches
and copies in other streams call ``used_on``; for work of other packages, the user does. Without a
GPU, ``HostMemory`` replaces ``DeviceMemory``.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from pycu2c.base import graph_capture
from pycu2c.base.graph_capture import DEFAULT_STREAMS
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.strides import memory_of
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory_pool import round_up_to_even

ALIGNMENT = 256  # of every allocation
HOST = -1  # the ordinal of host memory


def in_order_with_default(stream: Any) -> bool:
    """Return whether a stream and the default stream synchronize with each other."""
    if getattr(stream, "blocking", False):
        return True
    return driver.stream_of(stream) in driver.SPECIAL_HANDLES


class Memory:
    """Bytes of memory, which live as long as this object."""

    __slots__ = ("__weakref__", "address", "ordinal", "size")

    def __init__(self, address: int, size: int, ordinal: int) -> None:
        self.address, self.size, self.ordinal = address, size, ordinal

    def used_on(self, stream: object) -> None:
        """Order later work of a stream after the allocation, and the release after that work."""

    def before_use(self, stream: int) -> None:
        """Order later work of a stream after pending work on this memory."""

    def mark_exported(self) -> None:
        """Declare that another package may use this memory in any stream."""


def memory_behind(owner: object) -> Memory | None:
    """Return the memory object of an array of this package; None for other owners."""
    allocation = getattr(owner, "_memory", owner)
    return allocation if isinstance(allocation, Memory) else None


class HostMemory(Memory):
    """Host memory of a device array in a program without a GPU."""

    __slots__ = ("_buffer",)

    def __init__(self, size: int) -> None:
        self._buffer = np.empty(size + ALIGNMENT, np.uint8)
        start = self._buffer.ctypes.data
        super().__init__(-(-start // ALIGNMENT) * ALIGNMENT, size, HOST)


class ExternalMemory(Memory):
    """Memory of an array of another package, which is kept alive."""

    __slots__ = ("owner",)

    def __init__(self, owner: object, address: int, size: int, ordinal: int) -> None:
        self.owner = owner
        super().__init__(address, size, ordinal)


class DeviceMemory(Memory):
    """A new allocation on a GPU."""

    __slots__ = ("_is_exported", "_streams")

    def __init__(self, size: int, ordinal: int | None = None) -> None:
        """Allocate on a device; the default is the current one."""
        self._streams: set[object] | None = None
        self._is_exported = False
        self.size, self.ordinal, self.address = size, 0, 0  # frees nothing if the rest fails
        if not driver.has_multiple_devices():
            self.address = memory_pool.allocate(size) if size else 0
            return
        self.ordinal = driver.current_ordinal() if ordinal is None else ordinal
        with driver.on_device(self.ordinal):
            self.address = memory_pool.allocate(size) if size else 0

    def used_on(self, stream: object) -> None:
        if graph_capture.retain(self):
            return
        if (self._streams and stream in self._streams) or in_order_with_default(stream):
            return
        if self._streams is None:
            self._streams = set()
        if stream not in self._streams:
            with driver.on_device(self.ordinal):
                driver.order_after(0, driver.stream_of(stream))  # after the allocation
            self._streams.add(stream)  # keeps a stream object alive

    def before_use(self, stream: int) -> None:
        if graph_capture.retain(self) or not self._streams:
            return
        for other in self._streams:
            driver.order_after(driver.stream_of(other), stream)
        if stream in DEFAULT_STREAMS:  # other streams synchronize with it
            self._streams.clear()

    def mark_exported(self) -> None:
        self._is_exported = True

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        # at exit the driver may already be unloaded; it frees all memory itself
        if self.address and not finalizing():
            if (
                self._is_exported
                or self._streams
                or not memory_pool.cache_block(self.address, self.size, self.ordinal)
            ):
                memory_pool.free(self.address, self._streams, self.ordinal)


def allocate(size: int, ordinal: int) -> Memory:
    """Allocate memory on a GPU, or on ``HOST``."""
    return HostMemory(size) if ordinal == HOST else DeviceMemory(size, ordinal)


# ---- host memory that the device can access ------------------------------------------------------


class PinnedMemory(Memory):
    """Pinned (page-locked) host memory. ``in_place``: it is mapped, so kernels access it."""

    __slots__ = ("in_place",)

    def __init__(self, size: int, *, in_place: bool = False, write_combined: bool = False) -> None:
        self.address, self.size, self.ordinal, self.in_place = 0, size, HOST, in_place
        if size:
            driver.make_current()
            bindings = driver.api()
            flags = bindings.CU_MEMHOSTALLOC_PORTABLE | bindings.CU_MEMHOSTALLOC_DEVICEMAP
            if write_combined:
                flags |= bindings.CU_MEMHOSTALLOC_WRITECOMBINED
            allocated, doing = round_up_to_even(size), f"allocate {size} bytes of pinned memory"
            self.address = int(driver.call("cuMemHostAlloc", allocated, flags, doing=doing))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.address and not finalizing():
            _free_quietly("cuMemFreeHost", self.address)


class ManagedMemory(Memory):
    """Managed memory, which the driver migrates between host and device."""

    __slots__ = ()
    in_place = True

    def __init__(self, size: int, *, attach_global: bool = True) -> None:
        self.address, self.size, self.ordinal = 0, size, 0
        if size:
            driver.make_current()
            flag = driver.api().CUmemAttach_flags
            flags = flag.CU_MEM_ATTACH_GLOBAL if attach_global else flag.CU_MEM_ATTACH_HOST
            allocated, doing = round_up_to_even(size), f"allocate {size} bytes of managed memory"
            self.address = int(driver.call("cuMemAllocManaged", allocated, int(flags), doing=doing))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.address and not finalizing():
            _free_quietly("cuMemFree", self.address)


def is_device_accessible(array: object) -> bool:
    """Return whether a numpy array is in mapped or managed memory."""
    base = memory_of(array)
    return isinstance(base, PinnedMemory | ManagedMemory) and base.in_place


def _free_quietly(name: str, address: int) -> None:
    try:
        driver.make_current()
        getattr(driver.api(), name)(address)
    except Exception:  # the driver is unloaded
        return


@contextlib.contextmanager
def pinned_range(start: int, stop: int) -> Iterator[None]:
    """Pin host memory in a ``with``."""
    driver.make_current()
    bindings = driver.api()
    flags = bindings.CU_MEMHOSTREGISTER_PORTABLE | bindings.CU_MEMHOSTREGISTER_DEVICEMAP
    doing = f"pin {stop - start} bytes of the host"
    driver.call("cuMemHostRegister", start, stop - start, flags, doing=doing)
    try:
        yield
    finally:
        driver.call("cuMemHostUnregister", start, doing="release pinned memory of the host")
