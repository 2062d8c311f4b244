"""``memoize`` and ``clear_memo``: what a function has given for arguments, kept. Names and rules
are CuPy's."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from pycu2c.cuda_driver import driver

F = TypeVar("F", bound=Callable[..., Any])

_KEPT: list[dict[Hashable, Any]] = []
_LOCK = threading.Lock()


def memoize(for_each_device: bool = False) -> Callable[[F], F]:
    """Call a function once for each list of arguments; ``for_each_device``: once on each GPU.
    Arguments by name are others than by place."""

    def decorated(function: F) -> F:
        kept: dict[Hashable, Any] = {}
        with _LOCK:
            _KEPT.append(kept)

        @functools.wraps(function)
        def remembered(*given: Any, **named: Any) -> Any:
            place = _device() if for_each_device else None
            key = (place, given, frozenset(named.items()))
            if key not in kept:
                kept[key] = function(*given, **named)
            return kept[key]

        return remembered  # type: ignore[return-value]

    return decorated


def clear_memo() -> None:
    """Forget what all functions have given."""
    with _LOCK:
        for kept in _KEPT:
            kept.clear()


def _device() -> int | None:
    return driver.current_ordinal() if driver.available() else None
