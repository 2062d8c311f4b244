"""Copies between the device and memory of the host that is not pinned, by way of some that is.

The driver copies pinned memory at the speed of the bus, and other memory by one thread of the CPU.
Large copies go in pieces: threads move them between the user's memory and pinned buffers, while
the device copies others. Measured on an H100 with 16 cores, 256 MB: 9 GB/s in and 13 out by the
driver, 37 both ways by eight threads and pieces of 4 MB; pinned memory itself, 54.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

import numpy as np

from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.strides import array_over
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.runtime.cuda.memory import PinnedMemory

PIECE = 4 << 20  # bytes
LEAST = 4 * PIECE  # smaller copies are the driver's
_MOST_THREADS = 8

_BYTE = np.dtype(np.uint8)


def copy_in(device_address: int, host_address: int, size: int, stream: int = 0) -> None:
    """Copy host bytes to the device, in the order of the stream. Memory that is not pinned has
    been read when this returns."""
    if size < LEAST or _is_pinned(host_address):
        driver.copy_in(device_address, host_address, size, stream)
        return
    with _LOCK:
        _stage(driver.current_ordinal()).copy_in(device_address, host_address, size, stream)


def copy_out(host_address: int, device_address: int, size: int, stream: int = 0) -> None:
    """Copy device bytes to the host, in the order of the stream; ``synchronize`` before use."""
    if size < LEAST or _is_pinned(host_address):
        driver.copy_out(host_address, device_address, size, stream)
        return
    with _LOCK:
        _stage(driver.current_ordinal()).copy_out(host_address, device_address, size, stream)


_LOCK = threading.Lock()


def _is_pinned(address: int) -> bool:
    """Whether the driver knows memory of the host: by whomever it was pinned."""
    driver.make_current()
    bindings = driver.api()
    which = bindings.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    answer = bindings.cuPointerGetAttributes(1, [which], address)  # the plural knows all memory
    (kind,) = driver.check(answer, "ask what memory it is")
    return bool(int(kind))


class _Buffer:
    """Pinned memory for a piece, and who works on it: a thread, or the device."""

    def __init__(self) -> None:
        self.memory = PinnedMemory(PIECE)
        self.bytes = _bytes_at(self.memory.address, PIECE)
        self.thread: futures.Future[None] = futures.Future()
        self.thread.set_result(None)
        flags = driver.api().CUevent_flags.CU_EVENT_DISABLE_TIMING
        answer = driver.api().cuEventCreate(int(flags))
        self.event: Any = driver.check(answer, "make an event")

    def note(self, stream: int) -> None:
        """The device has been given work on the buffer."""
        driver.check(driver.api().cuEventRecord(self.event, stream), "record an event")

    def wait(self) -> None:
        """Until neither works on it."""
        self.thread.result()
        driver.check(driver.api().cuEventSynchronize(self.event), "wait for a copy")


class _Stage:
    """Buffers, and threads that fill and empty them, for a device: events are of one."""

    def __init__(self, _: int) -> None:
        threads = min(_MOST_THREADS, thread_count())
        self._threads = futures.ThreadPoolExecutor(threads, "pycu2c-copy")
        driver.make_current()
        self._buffers = [_Buffer() for _ in range(threads + threads // 2 + 1)]

    def copy_in(self, target: int, source: int, size: int, stream: int) -> None:
        def start(buffer: _Buffer, place: int, count: int) -> None:
            buffer.thread.result()
            driver.copy_in(target + place, buffer.memory.address, count, stream)
            buffer.note(stream)

        waiting: list[tuple[_Buffer, int, int]] = []
        for number, (place, count) in enumerate(_pieces(size)):
            buffer = self._buffers[number % len(self._buffers)]
            if len(waiting) == len(self._buffers):
                start(*waiting.pop(0))
            buffer.wait()
            piece = _bytes_at(source + place, count)
            buffer.thread = self._threads.submit(np.copyto, buffer.bytes[:count], piece)
            waiting.append((buffer, place, count))
        for each in waiting:
            start(*each)

    def copy_out(self, target: int, source: int, size: int, stream: int) -> None:
        def move(buffer: _Buffer, place: int, count: int) -> None:
            driver.check(driver.api().cuEventSynchronize(buffer.event), "wait for a copy")
            np.copyto(_bytes_at(target + place, count), buffer.bytes[:count])

        for number, (place, count) in enumerate(_pieces(size)):
            buffer = self._buffers[number % len(self._buffers)]
            buffer.wait()
            driver.copy_out(buffer.memory.address, source + place, count, stream)
            buffer.note(stream)
            buffer.thread = self._threads.submit(move, buffer, place, count)
        for buffer in self._buffers:
            buffer.thread.result()


def _pieces(size: int) -> list[tuple[int, int]]:
    return [(place, min(PIECE, size - place)) for place in range(0, size, PIECE)]


def _bytes_at(address: int, count: int) -> Any:
    return array_over(address, ((count,), (1,), _BYTE))


_stage: Callable[[int], _Stage] = functools.cache(_Stage)
