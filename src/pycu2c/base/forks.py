"""Keep forked children independent of what other threads did at the fork.

A child has a copy of the memory, and only the thread that forked. There, a lock that another thread
held is never released, and a module that another thread imported is never complete.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident

_MAX_DELAY = 120.0  # seconds; an import may need a lock that the forking thread holds


class ForkSafeLock:
    """A reentrant lock, which in a forked child no thread but the forking one holds."""

    __slots__ = ("__weakref__", "_lock", "_owner", "depth")

    def __init__(self) -> None:
        self.depth = 0  # of the ``with`` statements of the thread that holds it
        self._owner = 0
        self._lock = RLock()
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self.depth += 1
        self._owner = get_ident()

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if not self.depth:
            self._owner = 0
        self._lock.release()

    def release_in_child(self) -> None:
        """Release the lock if a thread holds it that does not exist in the child."""
        if self._owner != get_ident():
            self._lock, self._owner, self.depth = RLock(), 0, 0


_LOCKS: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


# ---- imports -----------------------------------------------------------------------------------

_IMPORTING: dict[int, int] = {}  # by thread: nested ``delaying_forks``
_FORKING = RLock()  # held from the end of the delay until the process has forked


@contextmanager
def delaying_forks() -> Iterator[None]:
    """Import modules or load libraries in a ``with``; forks by other threads wait meanwhile."""
    thread = get_ident()
    with _FORKING:
        _IMPORTING[thread] = _IMPORTING.get(thread, 0) + 1
    try:
        yield
    finally:
        _IMPORTING[thread] -= 1
        if not _IMPORTING[thread]:
            del _IMPORTING[thread]


def _before_fork() -> None:
    deadline = time.monotonic() + _MAX_DELAY
    _FORKING.acquire()
    while not _IMPORTING.keys() <= {get_ident()} and time.monotonic() < deadline:
        _FORKING.release()
        try:
            time.sleep(0.001)
        finally:
            _FORKING.acquire()


def _after_in_child() -> None:
    thread = get_ident()
    for other in _IMPORTING.keys() - {thread}:
        del _IMPORTING[other]
    for lock in _LOCKS:
        lock.release_in_child()
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_FORKING.release, after_in_child=_after_in_child
    )
