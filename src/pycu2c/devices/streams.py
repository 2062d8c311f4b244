"""Streams and events. Without a GPU all work is synchronous: streams are empty, and events store
the time at which they were recorded.
"""

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
from pycu2c.base.lazy_imports import lazy_method
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.runtime import launch_configuration

_LEGACY, _PER_THREAD = 1, 2  # the driver's handles of its default streams


def _handle_of(stream: object, expected: str) -> int:
    """Return the handle of an argument of ``wait``; ``expected`` describes it in errors."""
    if isinstance(stream, int) and not driver.may_be_handle(stream):
        raise LaunchError(f"wait() takes {expected}, not the number {stream}")
    return driver.working_stream(stream)


class Stream:
    """A queue of work on the device, which is executed in order.

    ``cuda.stream()`` creates one, and ``k[grid, block, stream]`` launches in it. Streams of other
    packages are accepted, too, by their ``__cuda_stream__``.

    Attributes
    ----------
    handle : int
        The ``CUstream`` handle; 0 for the default stream.
    blocking : bool
        Whether the stream and the default stream synchronize with each other.
    """

    __slots__ = ("__weakref__", "_is_owned", "_owner", "blocking", "handle")

    def __init__(
        self, handle: int, *, blocking: bool = True, is_owned: bool = False, owner: object = None
    ) -> None:
        self.handle, self.blocking, self._is_owned, self._owner = handle, blocking, is_owned, owner

    @property
    def device(self) -> int | None:
        """The ordinal of the GPU; None for default streams, which exist on each GPU."""
        if not driver.available() or self.handle <= _PER_THREAD:
            return None
        return driver.ordinal_of_stream(self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        name = {0: "default", _LEGACY: "legacy default", _PER_THREAD: "per-thread default"}
        return f"<stream {name.get(self.handle, hex(self.handle))}>"

    _repr_html_ = lazy_method("pycu2c.devices.html_views", "stream_view")

    def synchronize(self) -> None:
        """Wait for all work of the stream. Raises the errors of its kernels."""
        graph_capture.reject_during_capture("synchronize()")
        if driver.available():
            driver.synchronize(self.handle)

    def done(self) -> bool:
        """Return whether the stream has no pending work; does not wait."""
        graph_capture.reject_during_capture("done()")
        if not driver.available():
            return True
        driver.make_current()
        return _is_ready(driver.api().cuStreamQuery(self.handle), "query a stream")

    def wait(self, other: Event | Stream | object) -> None:
        """Order later work after an event or another stream, without waiting on the host."""
        if isinstance(other, Event):
            other.wait(self)
            return
        earlier_stream = _handle_of(other, "an event or a stream")
        if driver.available():
            own_stream = graph_capture.stream_for(self.handle)
            graph_capture.check_can_join(own_stream)
            driver.order_after(earlier_stream, own_stream)

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronize with the stream at the end of a ``with``.

        Yields
        ------
        Stream
            The stream.
        """
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Call ``callback(stream, 0, arg)`` after the pending work of the stream.

        A thread of the driver calls it. It must not use the GPU.

        Parameters
        ----------
        callback : callable
            A function of the stream, the status 0 and ``arg``.
        arg : object, optional
            The last argument of the function.
        """
        if graph_capture.current() is not None:
            graph_capture.reject(
                "a callback cannot be captured: add it to the stream after the launch"
            )
        if not driver.available():
            callback(self, 0, arg)
            return
        _add_host_function(self, lambda: callback(self, 0, arg))

    def async_done(self) -> asyncio.Future[Stream]:
        """Return a future that ends with the pending work of the stream, for ``await``."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def finish() -> None:
            if not future.done():
                future.set_result(self)

        self.add_callback(lambda *_: loop.call_soon_threadsafe(finish))
        return future

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._is_owned and not finalizing():
            with contextlib.suppress(Exception):  # the driver is unloaded
                driver.api().cuStreamDestroy(self.handle)  # pending work still completes


launch_configuration.CACHEABLE_STREAM_TYPES.add(Stream)  # configured kernels may be cached


def stream(*, blocking: bool = True, priority: int = 0) -> Stream:
    """Return a new stream.

    Examples
    --------
    >>> from pycu2c import cuda
    >>> stream = cuda.stream()
    >>> stream.synchronize()
    """
    if not driver.available():
        return Stream(0)
    driver.make_current()
    flags = driver.api().CUstream_flags
    flag = flags.CU_STREAM_DEFAULT if blocking else flags.CU_STREAM_NON_BLOCKING
    doing = "create a stream"
    handle = int(driver.call("cuStreamCreateWithPriority", int(flag), priority, doing=doing))
    return Stream(handle, blocking=blocking, is_owned=True)


def default_stream() -> Stream:
    """Return the default stream, which all blocking streams synchronize with."""
    return Stream(0)


def legacy_default_stream() -> Stream:
    """Return the default stream by its explicit handle, ``CU_STREAM_LEGACY``."""
    return Stream(_LEGACY if driver.available() else 0)


def per_thread_default_stream() -> Stream:
    """Return the default stream of the calling thread."""
    return Stream(_PER_THREAD if driver.available() else 0)


def external_stream(ptr: object) -> Stream:
    """Return a stream of another package, given as a handle or an object, which is kept alive."""
    handle = driver.stream_of(ptr)
    return Stream(handle, blocking=handle in driver.SPECIAL_HANDLES, owner=ptr)


def synchronize() -> None:
    """Wait for all work of the device. Raises the errors of kernels."""
    graph_capture.reject_during_capture("cuda.synchronize()")
    if driver.available():
        driver.make_current()
        driver.synchronize_device()


# ---- events ------------------------------------------------------------------------------------


class Event:
    """A position in the work of a stream, created by ``cuda.event()``.

    Attributes
    ----------
    timing : bool
        Whether the event records its time.
    """

    __slots__ = ("__weakref__", "_seconds", "handle", "timing")

    def __init__(self, timing: bool = True) -> None:
        self.timing, self.handle, self._seconds = timing, 0, 0.0
        if driver.available():
            driver.make_current()
            self.handle = int(driver.new_event(timing=timing))

    _repr_html_ = lazy_method("pycu2c.devices.html_views", "event_view")

    def record(self, stream: object = None) -> None:
        """Move the event to the end of the work that a stream has now."""
        self._seconds = time.perf_counter()
        stream_handle = driver.working_stream(stream)
        if self.handle:
            driver.make_current()
            driver.call("cuEventRecord", self.handle, stream_handle, doing="record an event")

    def query(self) -> bool:
        """Return whether the work before the event has ended."""
        graph_capture.reject_during_capture("query()")
        if not self.handle:
            return True
        return _is_ready(driver.api().cuEventQuery(self.handle), "query an event")

    def synchronize(self) -> None:
        """Wait until the work before the event has ended."""
        graph_capture.reject_during_capture("synchronize()")
        if self.handle:
            driver.call("cuEventSynchronize", self.handle, doing="wait for an event")

    def wait(self, stream: object = None) -> None:
        """Order later work of a stream after the work before the event."""
        waiting_stream = _handle_of(stream, "the stream that is to wait")
        if self.handle:
            driver.make_current()
            graph_capture.check_can_join(waiting_stream)
            doing = "let a stream wait for an event"
            driver.call("cuStreamWaitEvent", waiting_stream, self.handle, 0, doing=doing)

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds between this event and ``end``; both must have completed.

        Raises
        ------
        ValueError
            If an event was not recorded, or has no timing.
        """
        if not (self.timing and end.timing):
            raise ValueError("an event made with timing=False has no time")
        if not (self._seconds and end._seconds):
            raise ValueError("an event that was not recorded has no time: call its record()")
        if not self.handle:
            return 1e3 * (end._seconds - self._seconds)
        doing = "read the time between events"
        return float(driver.call("cuEventElapsedTime", self.handle, end.handle, doing=doing))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.handle and not finalizing():
            with contextlib.suppress(Exception):  # the driver is unloaded
                driver.api().cuEventDestroy(self.handle)


def event(timing: bool = True) -> Event:
    """Return a new event; events without timing are cheaper.

    See Also
    --------
    event_elapsed_time
        The time between two events.

    Examples
    --------
    >>> from pycu2c import cuda
    >>> start, end = cuda.event(), cuda.event()
    >>> start.record()
    >>> end.record()
    >>> end.synchronize()
    >>> start.elapsed_time(end) >= 0  # milliseconds
    True
    """
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return the milliseconds between two events, which must have completed."""
    return evtstart.elapsed_time(evtend)


def _is_ready(answer: tuple[Any, ...], doing: str) -> bool:
    """Return whether a query found no pending work. Raises CudaError."""
    if answer[0].name == "CUDA_ERROR_NOT_READY":
        return False
    driver.check(answer, doing)
    return True


# ---- callbacks ---------------------------------------------------------------------------------

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_PENDING_CALLBACKS: dict[
    int, Callable[[], object]
] = {}  # by the number that the driver passes back


def _run_callback(callback_id: int | None) -> None:
    _PENDING_CALLBACKS.pop(callback_id or 0)()


_RUN_CALLBACK = _HOST_FUNCTION(_run_callback)


def _add_host_function(stream: Stream, callback: Callable[[], object]) -> None:
    driver.make_current()
    callback_id = id(callback)
    _PENDING_CALLBACKS[callback_id] = callback
    function = driver.api().CUhostFn(ctypes.cast(_RUN_CALLBACK, ctypes.c_void_p).value)
    doing = "add a callback to a stream"
    driver.call("cuLaunchHostFunc", stream.handle, function, callback_id, doing=doing)


# ---- profiling ---------------------------------------------------------------------------------


def profile_start() -> None:
    """Start a profiler that waits for this call: ``ncu --profile-from-start off``."""
    if driver.available():
        driver.make_current()
        driver.call("cuProfilerStart", doing="start the profiler")


def profile_stop() -> None:
    """Pause the profiler that ``profile_start`` started."""
    if driver.available():
        driver.call("cuProfilerStop", doing="stop the profiler")


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Profile the code inside a ``with``.

    Yields
    ------
    None
        Nothing.
    """
    profile_start()
    try:
        yield
    finally:
        profile_stop()


document_parameters(
    globals(),
    """
other : Event, Stream or object | An event, or a stream whose pending work is waited for.
blocking : bool | Whether the stream and the default stream synchronize with each other.
priority : int | Work of streams with lower numbers is started first.
ptr : int or object | A ``CUstream`` handle, or a stream of another package.
stream : Stream | The stream; by default the default stream.
Event.wait.stream : Stream | The stream that waits; by default the default stream.
end : Event | The later event.
evtstart, evtend : Event | Recorded events with timing.
timing : bool | Whether the event records its time.
""",
)
