"""Implement PyCUDA's streams and events by those of ``pycu2c.cuda``."""

from __future__ import annotations

from pycu2c.compat.pycuda.enums import event_flags
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import streams


class Stream(streams.Stream):
    """A stream: work on the device in order."""

    __slots__ = ()

    def __init__(self, flags: int = 0) -> None:
        created = streams.stream(blocking=not flags & 1)  # CU_STREAM_NON_BLOCKING
        super().__init__(created.handle, blocking=created.blocking, owner=created)

    def is_done(self) -> bool:
        """Return whether all work is done."""
        return self.done()

    def wait_for_event(self, evt: Event) -> None:
        """Order later work of the stream after an event."""
        evt.wait(self)


class Event(streams.Event):
    """An event in a stream."""

    __slots__ = ()

    def __init__(self, flags: int = 0) -> None:
        super().__init__(timing=not flags & event_flags.DISABLE_TIMING)

    def record(self, stream: object = None) -> Event:  # type: ignore[override]
        """Return the event, after recording it in a stream."""
        super().record(stream)
        return self

    def synchronize(self) -> Event:  # type: ignore[override]
        """Return the event, after waiting for it."""
        super().synchronize()
        return self

    def time_since(self, event: Event) -> float:
        """Return the milliseconds from another event to this one."""
        return event.elapsed_time(self)

    def time_till(self, event: Event) -> float:
        """Return the milliseconds from this event to another one."""
        return self.elapsed_time(event)


document_parameters(
    globals(),
    """
flags : int | Flags of the driver.
stream : Stream | The stream; by default the default stream.
event, evt : Event | Another event.
""",
)
