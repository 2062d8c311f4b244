"""Advisory file locks between processes; the system releases a lock when its process dies.

The locks only save work; correctness does not depend on them. Without support by the system, or
after a timeout, the caller continues without the lock. The size of a lock file counts its holders,
so that a process waits for one holder only.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_TIMEOUT = 120.0  # seconds; another process may be stopped, or swapped out
_OPEN_LOCKS: set[int] = set()  # file descriptors
_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def exclusive(path: str, unneeded: Callable[[], bool]) -> Iterator[None]:
    """Hold the lock in a ``with``; remove its file then.

    Continue without the lock when ``unneeded`` returns True, or when another process gets the lock
    after the one that has it now: the work of that one has failed.
    """
    handle = _open(path)
    is_held = False
    try:
        is_held = handle is not None and _acquire(handle, unneeded)
        yield
    finally:
        _release(handle)
        if is_held:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _open(path: str) -> int | None:
    try:
        handle = os.open(path, _OPEN_FLAGS, 0o600)
    except OSError:
        return None
    if hasattr(os, "geteuid") and os.fstat(handle).st_uid != os.geteuid():
        os.close(handle)  # another user could hold it forever
        return None
    _OPEN_LOCKS.add(handle)
    return handle


def _try_lock(handle: int) -> bool | None:
    """Return whether the lock was acquired; None if the file system does not support locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # one byte, which need not exist
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # some network file systems
        return None
    return True


def _acquire(handle: int, unneeded: Callable[[], bool]) -> bool:
    """Poll the lock: a blocking call would never return if the other process is stopped.

    Return whether it was acquired.
    """
    pause, deadline, holders = 0.001, time.monotonic() + _TIMEOUT, 0
    while (acquired := _try_lock(handle)) is False and time.monotonic() < deadline:
        size = os.fstat(handle).st_size
        holders = holders or size
        if unneeded() or size != holders:
            return False
        time.sleep(pause)
        pause = min(1.5 * pause, 0.01)
    if acquired:
        with contextlib.suppress(OSError):  # the disk is full
            os.lseek(handle, 0, os.SEEK_END)
            os.write(handle, b"\n")
    return acquired is True


def _release(handle: int | None) -> None:
    if handle in _OPEN_LOCKS:
        _OPEN_LOCKS.discard(handle)
        os.close(handle)


def _close_inherited_locks() -> None:
    """Close inherited locks in a forked child; a lock ends when all processes have closed it."""
    while _OPEN_LOCKS:
        os.close(_OPEN_LOCKS.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited_locks)
