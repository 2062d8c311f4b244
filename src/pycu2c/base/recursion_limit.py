"""Raise Python's recursion limit while the compiler follows calls from function to function."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pycu2c.base.forks import ForkSafeLock

# The front end needs about 20 frames for each call of a chain, and more in nested statements.
_FRAMES_PER_CALL = 100
MAX_NESTED_CALLS = 500  # bounds the use of the C stack

_LOCK = ForkSafeLock()


@contextmanager
def frames_for_calls(count: int) -> Iterator[None]:
    """Raise the limit for code that follows a number of nested calls.

    Several threads may do so concurrently.
    """
    frames = _FRAMES_PER_CALL * min(count, MAX_NESTED_CALLS)
    _change_limit(frames)
    try:
        yield
    finally:
        _change_limit(-frames)


def _change_limit(difference: int) -> None:
    with _LOCK:  # the limit is one of the whole process
        sys.setrecursionlimit(sys.getrecursionlimit() + difference)
