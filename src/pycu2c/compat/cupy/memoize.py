"""Implement CuPy's ``memoize`` and ``clear_memo``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from pycu2c.base.forks import ForkSafeLock
from pycu2c.cuda_driver import driver

F = TypeVar("F", bound=Callable[..., Any])

_MEMOS: list[dict[Hashable, Any]] = []
_LOCK = ForkSafeLock()


def memoize(for_each_device: bool = False) -> Callable[[F], F]:
    """Cache the results of a function by its arguments, as ``cupy.memoize``.

    for_each_device: cache results for each GPU separately.

    Parameters
    ----------
    for_each_device : bool, optional
        Whether to cache results for each GPU separately.

    Returns
    -------
    callable
        A decorator.
    """

    def decorated(function: F) -> F:
        memo: dict[Hashable, Any] = {}
        with _LOCK:
            _MEMOS.append(memo)

        @functools.wraps(function)
        def memoized(*args: Any, **kwargs: Any) -> Any:
            device = _device() if for_each_device else None
            key = (device, args, frozenset(kwargs.items()))
            if key not in memo:
                memo[key] = function(*args, **kwargs)
            return memo[key]

        return memoized  # type: ignore[return-value]

    return decorated


def clear_memo() -> None:
    """Clear the caches of all memoized functions."""
    with _LOCK:
        for memo in _MEMOS:
            memo.clear()


def _device() -> int | None:
    return driver.current_ordinal() if driver.available() else None
