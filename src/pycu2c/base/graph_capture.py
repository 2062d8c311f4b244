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


class _CaptureState(_local):
    capture: Capture | None = None
    listing = True


_STATE = _CaptureState()
_LOCK = allocate_lock()
_CAPTURE_COUNT = ctypes.c_int64(0)  # that capture


def capture_count_address() -> int:
    """Where C reads how many threads capture."""
    return ctypes.addressof(_CAPTURE_COUNT)


def current() -> Capture | None:
    """What the calling thread captures, if it does."""
    return _STATE.capture


@contextlib.contextmanager
def capturing(capture: Capture | None) -> Iterator[None]:
    """Let the calling thread capture, in a ``with``; or not."""
    before = _STATE.capture
    _count(capture is not None)
    _STATE.capture = capture
    try:
        yield
    finally:
        _STATE.capture = before
        _count(-(capture is not None))


def _count(change: int) -> None:
    with _LOCK:
        _CAPTURE_COUNT.value += change


@contextlib.contextmanager
def without_graph_nodes() -> Iterator[None]:
    """Launches in the ``with`` are parts of something else, and no nodes to the user."""
    before = _STATE.listing
    _STATE.listing = False
    try:
        yield
    finally:
        _STATE.listing = before


def records_nodes() -> bool:
    return _STATE.listing


def stream_for(handle: int) -> int:
    """The stream that work goes to: what is for the default stream goes into the graph."""
    capture = _STATE.capture
    return handle if capture is None or handle not in DEFAULT_STREAMS else capture.handle


def retain(memory: object) -> bool:
    """Whether a graph has been told that its work uses this memory: then each of its launches sees
    to the order of streams."""
    capture = _STATE.capture
    if capture is None:
        return False
    capture.use(memory)
    return True


def join(stream: int) -> None:
    """Told before a stream waits for another. Raises LaunchError."""
    if _STATE.capture is not None:
        _STATE.capture.join(stream)


def run_on_host(action: Callable[[], object]) -> None:
    """Work of the host: now, or whenever the graph is launched that is captured."""
    capture = _STATE.capture
    if capture is None:
        action()
    else:
        capture.do(action)


def reject_synchronization(what: str) -> None:
    """That nobody waits for work that a graph has taken in. Raises LaunchError."""
    if _STATE.capture is not None:
        reject(
            f"{what} would wait for work that is only noted here: do it after the graph's launch"
        )


def reject(why: str) -> NoReturn:
    raise LaunchError(f"a graph is captured in this thread, and {why}")
