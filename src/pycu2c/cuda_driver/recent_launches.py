"""Record the kernels that were launched last on a GPU.

A later driver call reports a fault, and the driver does not know which kernel caused it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

_MAX_NAMES = 4
_recorded: deque[str] = deque(maxlen=_MAX_NAMES)
_sources: list[Callable[[], Iterable[str]]] = []


def record(kernel: str) -> None:
    """Record a launch."""
    _recorded.append(kernel)


def add_source(launches: Callable[[], Iterable[str]]) -> None:
    """Add a function that returns further launches, the latest last."""
    _sources.append(launches)


def names() -> list[str]:
    """Return the names of the last kernels, the latest first."""
    return list(dict.fromkeys(reversed([*_all()])))[:_MAX_NAMES]


def _all() -> Iterator[str]:
    yield from _recorded
    for launches in _sources:
        yield from launches()
