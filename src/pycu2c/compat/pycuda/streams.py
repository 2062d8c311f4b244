"""Implement PyCUDA's streams and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pycu2c.compat.pycuda.enums import event_flags
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.devices import streams


class Stream:
    """A stream: work on the device in order."""

    __slots__ = ("__weakref__", "_stream")

    @translate_errors
    def __init__(self, flags: int = 0) -> None:
        self._stream = streams.stream(blocking=not flags & 1)  # CU_STREAM_NON_BLOCKING

    @property
    def handle(self) -> int:
        """Return the driver's handle."""
        return self._stream.handle

    @property
    def blocking(self) -> bool:
        """Return whether the stream and the default stream synchronize with each other."""
        return self._stream.blocking

    if not TYPE_CHECKING:  # type checkers use the declared attributes

        def __getattr__(self, name: str) -> NoReturn:
            graphs = ": pycu2c.cuda.graph() captures launches" if "capture" in name else ""
            raise AttributeError(f"a Stream has no {name}{graphs}", name=name, obj=self)

    def __cuda_stream__(self) -> tuple[int, int]:
        return self._stream.__cuda_stream__()

    @translate_errors
    def synchronize(self) -> None:
        """Wait for all work of the stream."""
        self._stream.synchronize()

    @translate_errors
    def is_done(self) -> bool:
        """Return whether all work is done."""
        return self._stream.done()

    @translate_errors
    def wait_for_event(self, evt: Event) -> None:
        """Order later work of the stream after an event."""
        self._stream.wait(evt._event)


class Event:
    """An event in a stream."""

    __slots__ = ("__weakref__", "_event")

    @translate_errors
    def __init__(self, flags: int = 0) -> None:
        self._event = streams.Event(event_flags.DISABLE_TIMING not in event_flags(int(flags)))

    @translate_errors
    def record(self, stream: Stream | None = None) -> Event:
        """Record the event in a stream.

        Returns
        -------
        Event
            The event itself.
        """
        self._event.record(stream)
        return self

    @translate_errors
    def synchronize(self) -> Event:
        """Wait for the event.

        Returns
        -------
        Event
            The event itself.
        """
        self._event.synchronize()
        return self

    @translate_errors
    def query(self) -> bool:
        """Return whether the event has occurred."""
        return self._event.query()

    @translate_errors
    def time_since(self, event: Event) -> float:
        """Return the milliseconds from another event to this one."""
        return event._event.elapsed_time(self._event)

    @translate_errors
    def time_till(self, event: Event) -> float:
        """Return the milliseconds from this event to another one."""
        return self._event.elapsed_time(event._event)
