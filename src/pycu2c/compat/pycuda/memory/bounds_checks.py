"""Check the bounds of copies where host memory replaces device memory.

The driver makes the same check for a GPU.
"""

from __future__ import annotations

import bisect
from typing import NoReturn

from pycu2c.base.forks import ForkSafeLock
from pycu2c.compat.pycuda.errors import LogicError

_LOCK = ForkSafeLock()  # reentrant: a finalizer may free memory while this thread holds it
_STARTS: list[int] = []
_STOPS: dict[int, int] = {}  # end addresses by start address


def add(start: int, size: int) -> None:
    """Register a range of device memory."""
    with _LOCK:
        if start not in _STOPS:
            bisect.insort(_STARTS, start)
        _STOPS[start] = start + size


def remove(start: int) -> None:
    """Unregister the range that begins at an address."""
    with _LOCK:
        if _STOPS.pop(start, None) is not None:
            del _STARTS[bisect.bisect_left(_STARTS, start)]


def check(start: int, size: int, operation: str) -> None:
    """Check that a range is device memory. Raises LogicError."""
    with _LOCK:
        index = bisect.bisect_right(_STARTS, start) - 1
        range_start = _STARTS[index] if index >= 0 else 0
        stop = _STOPS.get(range_start, 0)
    if start + size > stop:
        reject(start, size, stop, operation)


def reject(start: int, size: int, stop: int, operation: str) -> NoReturn:
    """Raise LogicError for a range that exceeds an allocation."""
    if start < stop:
        problem = f"only {stop - start} bytes are allocated there"
    else:
        problem = "no device memory is allocated there: it was freed, or its last reference is gone"
    raise LogicError(f"{operation}: {size} bytes at {start:#x}, but {problem}")
