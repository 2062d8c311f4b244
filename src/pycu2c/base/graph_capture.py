"""Per-thread state of graph capture, and functions that capture work instead of running it.

Launches, copies and streams consult this module. It knows neither graphs nor the driver.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Protocol

from pycu2c.base.diagnostics import LaunchError
from pycu2c.native import extension

DEFAULT_STREAMS = (0, 1)  # the handles of the default stream


class Capture(Protocol):
    """A graph that is being captured."""

    @property
    def handle(self) -> int:
        """Return the handle of the capturing stream."""

    def launch(self, launcher: Any, request: Any, values: tuple[object, ...]) -> None:
        """Capture a launch as a node."""

    def do(self, action: Callable[[], object]) -> None:
        """Capture a host function as a node."""

    def use(self, memory: object) -> None:
        """Keep memory alive that captured work uses."""

    def check_can_join(self, stream: int) -> None:
        """Raise LaunchError if a stream must not join the capture by a wait for captured work."""


class _CaptureState(threading.local):
    capture: Capture | None = None
    records_nodes = True


_STATE = _CaptureState()


def current() -> Capture | None:
    """Return the calling thread's capture, or None."""
    return _STATE.capture


@contextlib.contextmanager
def capturing(capture: Capture | None) -> Iterator[None]:
    """Set the calling thread's capture inside a ``with``; None suspends capturing."""
    previous = _STATE.capture
    if capture is not None:
        extension.suspend_dispatch()  # the dispatch table does not distinguish captured launches
    _STATE.capture = capture
    try:
        yield
    finally:
        _STATE.capture = previous
        if capture is not None:
            extension.resume_dispatch()


@contextlib.contextmanager
def without_launch_nodes() -> Iterator[None]:
    """Do not record the launches inside the ``with`` as separate nodes.

    The graph runs them, but cannot update their arguments later.
    """
    previous = _STATE.records_nodes
    _STATE.records_nodes = False
    try:
        yield
    finally:
        _STATE.records_nodes = previous


def records_nodes() -> bool:
    """Return whether launches are recorded as separate nodes."""
    return _STATE.records_nodes


def stream_for(handle: int) -> int:
    """Return the stream for work: the capturing stream in place of the default stream."""
    capture = _STATE.capture
    return handle if capture is None or handle not in DEFAULT_STREAMS else capture.handle


def retain(memory: object) -> bool:
    """Register memory with the current capture; return whether there is one.

    Each launch of the graph is then ordered with the work of other streams on it.
    """
    capture = _STATE.capture
    if capture is None:
        return False
    capture.use(memory)
    return True


def check_can_join(stream: int) -> None:
    """Check that a stream may join the capture by a wait for captured work. Raises LaunchError."""
    if _STATE.capture is not None:
        _STATE.capture.check_can_join(stream)


def run_on_host(action: Callable[[], object]) -> None:
    """Run a host function now, or at each launch of the graph that is being captured."""
    capture = _STATE.capture
    if capture is None:
        action()
    else:
        capture.do(action)


def reject_during_capture(what: str) -> None:
    """Raise LaunchError if the thread captures.

    Captured work runs later, so a wait for it would never end.
    """
    if _STATE.capture is not None:
        reject(f"{what} would wait for work that is only captured: do it after the graph's launch")


def reject(why: str) -> NoReturn:
    raise LaunchError(f"a graph is captured in this thread, and {why}")
