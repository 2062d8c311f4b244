"""Streams and events by PyCUDA's names, over those of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pycu2c.compat.pycuda.enums import event_flags
from pycu2c.compat.pycuda.errors import translating
from pycu2c.devices import streams


class Stream:
    """Work on the device that is done in order."""

    __slots__ = ("__weakref__", "_stream")

    @translating
    def __init__(self, flags: int = 0) -> None:
        self._stream = streams.stream(blocking=not flags & 1)

    @property
    def handle(self) -> int:
        """The driver's own."""
        return self._stream.handle

    @property
    def blocking(self) -> bool:
        """Whether it and the default stream wait for each other."""
        return self._stream.blocking

    if not TYPE_CHECKING:  # checkers know the names that there are

        def __getattr__(self, name: str) -> NoReturn:
            graphs = ": pycu2c.cuda.graph() captures launches" if "capture" in name else ""
            raise AttributeError(f"a Stream has no {name}{graphs}", name=name, obj=self)

    def __cuda_stream__(self) -> tuple[int, int]:
        return self._stream.__cuda_stream__()

    @translating
    def synchronize(self) -> None:
        """Wait until all work in it is done."""
        self._stream.synchronize()

    @translating
    def is_done(self) -> bool:
        """Whether all work in it is done."""
        return self._stream.done()

    @translating
    def wait_for_event(self, evt: Event) -> None:
        """Let what comes next in it wait for an event."""
        self._stream.wait(evt._event)


def start_profiler() -> None:
    """Let a profiler that waits for it begin."""
    streams.profile_start()


def stop_profiler() -> None:
    """Let the profiler pause."""
    streams.profile_stop()


class Event:
    """A place in the work of a stream."""

    __slots__ = ("__weakref__", "_event")

    @translating
    def __init__(self, flags: int = 0) -> None:
        self._event = streams.Event(event_flags.DISABLE_TIMING not in event_flags(int(flags)))

    @translating
    def record(self, stream: Stream | None = None) -> Event:
        """Be the place where the work in a stream ends now."""
        self._event.record(stream)
        return self

    @translating
    def synchronize(self) -> Event:
        """Wait until the work before this place is done."""
        self._event.synchronize()
        return self

    @translating
    def query(self) -> bool:
        """Whether the work before this place is done."""
        return self._event.query()

    @translating
    def time_since(self, event: Event) -> float:
        """Milliseconds from another event to this one."""
        return event._event.elapsed_time(self._event)

    @translating
    def time_till(self, event: Event) -> float:
        """Milliseconds from this event to another one."""
        return self._event.elapsed_time(event._event)
