"""Which kernels were launched last on a GPU: a fault is told by a later call of the driver, which
does not know whose it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

_MOST_NAMED = 4
_launched: deque[str] = deque(maxlen=_MOST_NAMED)
_others: list[Callable[[], Iterable[str]]] = []


def launched(kernel: str) -> None:
    """Remember a launch."""
    _launched.append(kernel)


def ask_too(launches: Callable[[], Iterable[str]]) -> None:
    """Somebody else who knows of launches: the latest last."""
    _others.append(launches)


def names() -> list[str]:
    """The kernels, the latest first."""
    return list(dict.fromkeys(reversed([*_all()])))[:_MOST_NAMED]


def _all() -> Iterator[str]:
    yield from _launched
    for launches in _others:
        yield from launches()
