"""Which memory of the host stands for memory of a device: a copy that goes outside of it is
refused there, as the driver refuses it for a GPU's. Knows addresses alone."""

from __future__ import annotations

import bisect
import threading
from typing import NoReturn

from pycu2c.compat.pycuda.errors import LogicError

_LOCK = threading.RLock()  # memory may go while a thread is in here
_STARTS: list[int] = []
_STOPS: dict[int, int] = {}  # by start


def add(start: int, size: int) -> None:
    """From now on these bytes are of the device."""
    with _LOCK:
        if start not in _STOPS:
            bisect.insort(_STARTS, start)
        _STOPS[start] = start + size


def remove(start: int) -> None:
    """Bytes that begin there are so no longer."""
    with _LOCK:
        if _STOPS.pop(start, None) is not None:
            del _STARTS[bisect.bisect_left(_STARTS, start)]


def check(start: int, size: int, doing: str) -> None:
    """That bytes are of the device. Raises LogicError."""
    with _LOCK:
        before = bisect.bisect_right(_STARTS, start) - 1
        first = _STARTS[before] if before >= 0 else 0
        stop = _STOPS.get(first, 0)
    if start + size > stop:
        refuse(start, size, stop, doing)


def refuse(start: int, size: int, stop: int, doing: str) -> NoReturn:
    """Say that memory ends at ``stop``. Raises LogicError."""
    if start < stop:
        found = f"{stop - start} bytes are there"
    else:
        found = "no memory of the device is there: free() or the last reference to it is gone"
    raise LogicError(f"{doing}: {size} bytes at {start:#x}, and {found}")
