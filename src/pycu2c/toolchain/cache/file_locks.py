"""Locks on files, which the system takes from a process that dies. Knows not what they are for.

They save work and keep nothing right: where the system has none, or somebody holds one for too
long, one goes on without.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_PATIENCE = 120.0  # seconds; another process may be stopped, or swapped out
_HELD: set[int] = set()  # file descriptors
_CREATE = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def alone(path: str, needless: Callable[[], bool]) -> Iterator[None]:
    """One process at a time, or, once it is ``needless``, any."""
    handle = _opened(path)
    try:
        _wait(handle, needless)
        yield
    finally:
        _release(handle)


def hold(path: str) -> None:
    """Make a file and keep a lock on it for the life of this process."""
    handle = _opened(path)
    if handle is not None:
        _taken(handle)


def is_free(path: str) -> bool:
    """Whether there is such a file, and nobody holds it."""
    if fcntl is None or not os.path.exists(path):
        return False
    handle = _opened(path)
    try:
        return handle is not None and _taken(handle) is True
    finally:
        _release(handle)


def _opened(path: str) -> int | None:
    if fcntl is None:
        return None
    try:
        handle = os.open(path, _CREATE, 0o600)
    except OSError:
        return None
    _HELD.add(handle)
    return handle


def _taken(handle: int) -> bool | None:
    """Whether the lock is ours now; None where there are no locks."""
    assert fcntl is not None
    locking: Any = fcntl
    try:
        locking.flock(handle, locking.LOCK_EX | locking.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network disks
        return None
    return True


def _wait(handle: int | None, needless: Callable[[], bool]) -> None:
    """Not by a call that waits: nothing would end that if the other process never did."""
    pause, end = 0.001, time.monotonic() + _PATIENCE
    while handle is not None and _taken(handle) is False and time.monotonic() < end:
        if needless():
            return
        time.sleep(pause)
        pause = min(1.5 * pause, 0.01)


def _release(handle: int | None) -> None:
    if handle in _HELD:
        _HELD.discard(handle)
        os.close(handle)


def _forget() -> None:
    """A forked child must not keep what its parent holds when that dies."""
    while _HELD:
        os.close(_HELD.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
