"""Streams and events. Where there is no GPU, work is done when it is asked for: streams are empty,
and events know when they were recorded. Knows no array and no kernel."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.runtime import launch_configuration
from pycu2c.runtime.cuda import peer_access

_LEGACY, _PER_THREAD = 1, 2  # handles that the driver has for its default streams


def _handle_of(stream: object, wanted: str) -> int:
    """The handle of a stream that somebody waits for or in."""
    if isinstance(stream, int) and not driver.may_be_handle(stream):
        raise LaunchError(f"wait() takes {wanted}, not the number {stream}")
    return driver.working_stream(stream)


class Stream:
    """Work on the device that is done in order. ``k[grid, block, stream]`` launches in it.

    Made by ``cuda.stream()`` and its kin. Streams of other packages, and of ours, tell their
    handle by ``__cuda_stream__``.
    """

    __slots__ = ("__weakref__", "_own", "_owner", "blocking", "handle")

    def __init__(
        self, handle: int, *, blocking: bool = True, own: bool = False, owner: object = None
    ) -> None:
        self.handle, self.blocking, self._own, self._owner = handle, blocking, own, owner

    @property
    def device(self) -> int | None:
        """The number of its GPU; None for the driver's default streams, which each GPU has."""
        if not driver.available() or self.handle <= _PER_THREAD:
            return None
        return peer_access.ordinal_of_stream(self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        name = {0: "default", _LEGACY: "legacy default", _PER_THREAD: "per-thread default"}
        return f"<stream {name.get(self.handle, hex(self.handle))}>"

    def synchronize(self) -> None:
        """Wait until all work in the stream is done. Errors of its kernels surface here."""
        graph_capture.reject_synchronization("synchronize()")
        if driver.available():
            driver.synchronize(self.handle)

    def done(self) -> bool:
        """Whether all work in the stream is done, without waiting for it."""
        graph_capture.reject_synchronization("done()")
        if not driver.available():
            return True
        driver.make_current()
        return _is_ready(driver.api().cuStreamQuery(self.handle), "ask a stream")

    def wait(self, other: Event | Stream | object) -> None:
        """Let what comes next in this stream wait for an event, or for what is in another stream
        now. Nobody else waits."""
        if isinstance(other, Event):
            other.wait(self)
            return
        earlier = _handle_of(other, "an event or a stream")
        if driver.available():
            mine = graph_capture.stream_for(self.handle)
            graph_capture.join(mine)
            driver.order_after(earlier, mine)

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Wait for the stream at the end of a ``with``."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Call ``callback(stream, 0, arg)`` when the work that is in the stream now is done, from
        a thread of the driver. It must not use the GPU."""
        if graph_capture.current() is not None:
            graph_capture.reject(
                "a callback is no part of one: add it to the stream after the launch"
            )
        if not driver.available():
            callback(self, 0, arg)
            return
        _call_after(self, lambda: callback(self, 0, arg))

    def async_done(self) -> asyncio.Future[Stream]:
        """What to ``await`` for the end of the work that is in the stream now."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def finish() -> None:
            if not future.done():
                future.set_result(self)

        self.add_callback(lambda *_: loop.call_soon_threadsafe(finish))
        return future

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._own and not finalizing():
            with contextlib.suppress(Exception):  # of a driver that is gone
                driver.api().cuStreamDestroy(self.handle)  # its work goes on to its end


launch_configuration.IMMORTAL_STREAM_TYPES.add(Stream)  # what is configured with one may be kept


def stream(*, blocking: bool = True, priority: int = 0) -> Stream:
    """A new stream. A blocking one and the default stream wait for each other's work, in the
    order in which it came. Of lower numbers, work of higher priority begins first."""
    if not driver.available():
        return Stream(0)
    driver.make_current()
    bindings = driver.api()
    flag = bindings.CUstream_flags
    flags = flag.CU_STREAM_DEFAULT if blocking else flag.CU_STREAM_NON_BLOCKING
    answer = bindings.cuStreamCreateWithPriority(int(flags), priority)
    handle = int(driver.check(answer, "make a stream"))
    return Stream(handle, blocking=blocking, own=True)


def default_stream() -> Stream:
    """The stream of launches and copies that name none; all blocking streams wait for it."""
    return Stream(0)


def legacy_default_stream() -> Stream:
    """The default stream under the name that it has in every program."""
    return Stream(_LEGACY if driver.available() else 0)


def per_thread_default_stream() -> Stream:
    """The default stream of the calling thread."""
    return Stream(_PER_THREAD if driver.available() else 0)


def external_stream(ptr: object) -> Stream:
    """A stream of another package, by its handle or as its object, which is kept."""
    handle = driver.stream_of(ptr)
    return Stream(handle, blocking=handle in (0, _LEGACY, _PER_THREAD), owner=ptr)


def synchronize() -> None:
    """Wait until all work on the device is done. Errors of kernels surface here."""
    graph_capture.reject_synchronization("cuda.synchronize()")
    if driver.available():
        driver.make_current()
        driver.check(driver.api().cuCtxSynchronize(), "wait for the device")


# ---- events ------------------------------------------------------------------------------------


class Event:
    """A place in the work of a stream. Made by ``cuda.event()``."""

    __slots__ = ("__weakref__", "_seconds", "handle", "timing")

    def __init__(self, timing: bool = True) -> None:
        self.timing, self.handle, self._seconds = timing, 0, 0.0
        if driver.available():
            driver.make_current()
            bindings = driver.api()
            flag = bindings.CUevent_flags
            flags = flag.CU_EVENT_DEFAULT if timing else flag.CU_EVENT_DISABLE_TIMING
            answer = bindings.cuEventCreate(int(flags))
            self.handle = int(driver.check(answer, "make an event"))

    def record(self, stream: object = None) -> None:
        """Be the place where the work in a stream ends now."""
        self._seconds = time.perf_counter()
        recorded = driver.working_stream(stream)
        if self.handle:
            driver.make_current()
            answer = driver.api().cuEventRecord(self.handle, recorded)
            driver.check(answer, "record an event")

    def query(self) -> bool:
        """Whether the work before this place is done."""
        graph_capture.reject_synchronization("query()")
        return not self.handle or _is_ready(driver.api().cuEventQuery(self.handle), "ask an event")

    def synchronize(self) -> None:
        """Wait until the work before this place is done."""
        graph_capture.reject_synchronization("synchronize()")
        if self.handle:
            driver.check(driver.api().cuEventSynchronize(self.handle), "wait for an event")

    def wait(self, stream: object = None) -> None:
        """Let what comes next in a stream wait for the work before this place."""
        waiting = _handle_of(stream, "the stream that is to wait")
        if self.handle:
            driver.make_current()
            graph_capture.join(waiting)
            answer = driver.api().cuStreamWaitEvent(waiting, self.handle, 0)
            driver.check(answer, "let a stream wait for an event")

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another one; both are recorded and done."""
        if not (self.timing and end.timing):
            raise ValueError("an event made with timing=False has no time")
        if not (self._seconds and end._seconds):
            raise ValueError("an event that was not recorded has no time: call its record()")
        if not self.handle:
            return 1e3 * (end._seconds - self._seconds)
        answer = driver.api().cuEventElapsedTime(self.handle, end.handle)
        return float(driver.check(answer, "read the time between events"))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.handle and not finalizing():
            with contextlib.suppress(Exception):  # of a driver that is gone
                driver.api().cuEventDestroy(self.handle)


def event(timing: bool = True) -> Event:
    """A new event; one without timing costs less."""
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds from one event to another."""
    return evtstart.elapsed_time(evtend)


def _is_ready(answer: tuple[Any, ...], doing: str) -> bool:
    if answer[0].name == "CUDA_ERROR_NOT_READY":
        return False
    driver.check(answer, doing)
    return True


# ---- callbacks ---------------------------------------------------------------------------------

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_WAITING: dict[int, Callable[[], object]] = {}  # by the number that the driver gives back


def _run(number: int | None) -> None:
    _WAITING.pop(number or 0)()


_called = _HOST_FUNCTION(_run)


def _call_after(stream: Stream, callback: Callable[[], object]) -> None:
    driver.make_current()
    number = id(callback)
    _WAITING[number] = callback
    function = driver.api().CUhostFn(ctypes.cast(_called, ctypes.c_void_p).value)
    answer = driver.api().cuLaunchHostFunc(stream.handle, function, number)
    driver.check(answer, "add a callback to a stream")


# ---- profiling ---------------------------------------------------------------------------------


def profile_start() -> None:
    """Let a profiler that waits for it begin: ``ncu --profile-from-start off``."""
    if driver.available():
        driver.make_current()
        driver.check(driver.api().cuProfilerStart(), "start the profiler")


def profile_stop() -> None:
    """Let the profiler that ``profile_start`` started pause."""
    if driver.available():
        driver.check(driver.api().cuProfilerStop(), "stop the profiler")


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Profile what is in the ``with``."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
