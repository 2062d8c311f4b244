"""Memory of the device and of the host, each allocation an object that frees it. Knows no array.

Device memory comes from the driver's pool, in the order of the default stream, and goes back in
the order of that stream: what runs on it, and on all streams that it waits for, may go on with
the memory. Who uses it on a stream that the default stream does not wait for says so
(``used_on``). Where there is no GPU, ``HostMemory`` stands in.
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

ALIGNMENT = 256  # of every allocation
HOST = -1  # the ordinal of memory that is the host's


_PER_THREAD = 2


def in_order_with_default(stream: Any) -> bool:
    """Whether the default stream waits for a stream, and the stream for it."""
    if getattr(stream, "blocking", False):
        return True
    return driver.stream_of(stream) in (*DEFAULT_STREAMS, _PER_THREAD)


class Memory:
    """Bytes somewhere, which are kept as long as this object is."""

    __slots__ = ("address", "ordinal", "size")

    def __init__(self, address: int, size: int, ordinal: int) -> None:
        self.address, self.size, self.ordinal = address, size, ordinal

    def used_on(self, stream: object) -> None:
        """What comes next in a stream uses this memory: it is there for it, and not freed before
        it is done."""

    def before_use(self, stream: int) -> None:
        """Let what comes next in a stream wait for work on this memory."""

    def lend(self) -> None:
        """Another package is told where it is, and may use it on streams of its own."""


def behind(owner: object) -> Memory | None:
    """The memory that something keeps: an array of this package, or the memory itself."""
    found = getattr(owner, "_memory", owner)
    return found if isinstance(found, Memory) else None


class HostMemory(Memory):
    """Memory of the host for an array of a program that would have it on a GPU."""

    __slots__ = ("_buffer",)

    def __init__(self, size: int) -> None:
        self._buffer = np.empty(size + ALIGNMENT, np.uint8)
        start = self._buffer.ctypes.data
        super().__init__(-(-start // ALIGNMENT) * ALIGNMENT, size, HOST)


class ForeignMemory(Memory):
    """Memory of another package's array, which is kept alive."""

    __slots__ = ("owner",)

    def __init__(self, owner: object, address: int, size: int, ordinal: int) -> None:
        self.owner = owner
        super().__init__(address, size, ordinal)


class DeviceMemory(Memory):
    """Memory of a GPU, new."""

    __slots__ = ("_lent", "_streams")

    def __init__(self, size: int, ordinal: int | None = None) -> None:
        """On a device, or on the one that the thread is on."""
        self._streams: set[object] | None = None
        self._lent = False
        self.size, self.ordinal, self.address = size, 0, 0  # nothing is freed if the rest fails
        if not driver.several():
            self.address = memory_pool.allocate(size) if size else 0
            return
        self.ordinal = driver.current_ordinal() if ordinal is None else ordinal
        with driver.on(self.ordinal):
            self.address = memory_pool.allocate(size) if size else 0

    def used_on(self, stream: object) -> None:
        if graph_capture.keeps(self):
            return
        if (self._streams and stream in self._streams) or in_order_with_default(stream):
            return
        if self._streams is None:
            self._streams = set()
        if stream not in self._streams:
            with driver.on(self.ordinal):
                driver.order_after(0, driver.stream_of(stream))  # where the memory has come from
            self._streams.add(stream)  # which keeps a stream that is an object

    def before_use(self, stream: int) -> None:
        if graph_capture.keeps(self) or not self._streams:
            return
        for other in self._streams:
            driver.order_after(driver.stream_of(other), stream)
        if stream in DEFAULT_STREAMS:  # which others wait for
            self._streams.clear()

    def lend(self) -> None:
        self._lent = True

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        # at exit the driver may be gone before this is, and frees everything itself
        if self.address and not finalizing():
            if (
                self._lent
                or self._streams
                or not memory_pool.keep(self.address, self.size, self.ordinal)
            ):
                memory_pool.free(self.address, self._streams, self.ordinal)


# ---- memory of the host that the device can reach -----------------------------------------------


class PinnedMemory(Memory):
    """Memory of the host that stays where it is, so that the device copies it by itself.
    ``in_place``: kernels use it where it lies."""

    __slots__ = ("in_place",)

    def __init__(self, size: int, *, in_place: bool = False, write_combined: bool = False) -> None:
        self.address, self.size, self.ordinal, self.in_place = 0, size, HOST, in_place
        if size:
            driver.make_current()
            bindings = driver.api()
            flags = bindings.CU_MEMHOSTALLOC_PORTABLE | bindings.CU_MEMHOSTALLOC_DEVICEMAP
            if write_combined:
                flags |= bindings.CU_MEMHOSTALLOC_WRITECOMBINED
            answer = bindings.cuMemHostAlloc(memory_pool.in_pairs(size), flags)
            self.address = int(driver.check(answer, f"allocate {size} bytes of pinned memory"))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.address and not finalizing():
            _free_quietly("cuMemFreeHost", self.address)


class ManagedMemory(Memory):
    """Memory that the driver moves to where it is used, the host or the device."""

    __slots__ = ()
    in_place = True

    def __init__(self, size: int, *, everywhere: bool = True) -> None:
        self.address, self.size, self.ordinal = 0, size, 0
        if size:
            driver.make_current()
            flag = driver.api().CUmemAttach_flags
            flags = flag.CU_MEM_ATTACH_GLOBAL if everywhere else flag.CU_MEM_ATTACH_HOST
            answer = driver.api().cuMemAllocManaged(memory_pool.in_pairs(size), int(flags))
            self.address = int(driver.check(answer, f"allocate {size} bytes of managed memory"))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.address and not finalizing():
            _free_quietly("cuMemFree", self.address)


def lies_in_place(array: object) -> bool:
    """Whether a numpy array is in mapped or managed memory, which kernels use where it is."""
    kept = memory_of(array)
    return isinstance(kept, PinnedMemory | ManagedMemory) and kept.in_place


def _free_quietly(name: str, address: int) -> None:
    try:
        driver.make_current()
        getattr(driver.api(), name)(address)
    except Exception:  # of a driver that is gone
        return


@contextlib.contextmanager
def pinned_range(start: int, stop: int) -> Iterator[None]:
    """Let bytes of the host stay where they are, in a ``with``."""
    driver.make_current()
    bindings = driver.api()
    flags = bindings.CU_MEMHOSTREGISTER_PORTABLE | bindings.CU_MEMHOSTREGISTER_DEVICEMAP
    answer = bindings.cuMemHostRegister(start, stop - start, flags)
    driver.check(answer, f"pin {stop - start} bytes of the host")
    try:
        yield
    finally:
        driver.check(bindings.cuMemHostUnregister(start), "release pinned memory of the host")
