"""Whether the calling thread captures its work into a graph, and what then happens to work instead.

What launches, copies and streams ask; knows neither graphs nor the driver.
"""

from __future__ import annotations

import contextlib
import ctypes
from _thread import _local, allocate_lock  # ``threading``, which has them too, imports much
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import Protocol

DEFAULT_STREAMS = (0, 1)  # the handles of the one that copies and launches use if none is named


class Capture(Protocol):
    """A graph in the making."""

    @property
    def handle(self) -> int:
        """Of the stream that takes the work which names none."""

    def launch(self, launcher: Any, wanted: Any, values: tuple[object, ...]) -> None:
        """Take a launch in."""

    def do(self, action: Callable[[], object]) -> None:
        """Take work of the host in."""

    def use(self, memory: object) -> None:
        """Keep memory that the work uses."""

    def join(self, stream: int) -> None:
        """Let a stream wait for what is captured, which makes it a part."""


class _Thread(_local):
    capture: Capture | None = None
    listing = True


_THREAD = _Thread()
_LOCK = allocate_lock()
_THREADS = ctypes.c_int64(0)  # that capture


def address() -> int:
    """Where C reads how many threads capture."""
    return ctypes.addressof(_THREADS)


def current() -> Capture | None:
    """What the calling thread captures, if it does."""
    return _THREAD.capture


@contextlib.contextmanager
def into(capture: Capture | None) -> Iterator[None]:
    """Let the calling thread capture, in a ``with``; or not."""
    before = _THREAD.capture
    _count(capture is not None)
    _THREAD.capture = capture
    try:
        yield
    finally:
        _THREAD.capture = before
        _count(-(capture is not None))


def _count(change: int) -> None:
    with _LOCK:
        _THREADS.value += change


@contextlib.contextmanager
def unlisted() -> Iterator[None]:
    """Launches in the ``with`` are parts of something else, and no nodes to the user."""
    before = _THREAD.listing
    _THREAD.listing = False
    try:
        yield
    finally:
        _THREAD.listing = before


def lists() -> bool:
    return _THREAD.listing


def stream_for(handle: int) -> int:
    """The stream that work goes to: what is for the default stream goes into the graph."""
    capture = _THREAD.capture
    return handle if capture is None or handle not in DEFAULT_STREAMS else capture.handle


def keeps(memory: object) -> bool:
    """Whether a graph has been told that its work uses this memory: then each of its launches sees
    to the order of streams."""
    capture = _THREAD.capture
    if capture is None:
        return False
    capture.use(memory)
    return True


def join(stream: int) -> None:
    """Told before a stream waits for another. Raises LaunchError."""
    if _THREAD.capture is not None:
        _THREAD.capture.join(stream)


def do(action: Callable[[], object]) -> None:
    """Work of the host: now, or whenever the graph is launched that is captured."""
    capture = _THREAD.capture
    if capture is None:
        action()
    else:
        capture.do(action)


def check_waits(what: str) -> None:
    """That nobody waits for work that a graph has taken in. Raises LaunchError."""
    if _THREAD.capture is not None:
        refuse(
            f"{what} would wait for work that is only noted here: do it after the graph's launch"
        )


def refuse(why: str) -> NoReturn:
    raise LaunchError(f"a graph is captured in this thread, and {why}")
