"""Implement ``memoize``, which caches the results of a function by its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from pycu2c.cuda_driver import driver

F = TypeVar("F", bound=Callable[..., Any])
_CACHES: list[Any] = []


def memoize(for_each_device: bool = False) -> Callable[[F], F]:
    """Cache the results of a function by its arguments, as ``cupy.memoize``.

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
        @functools.cache
        def cached(device: int | None, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        @functools.wraps(function)
        def memoized(*args: Any, **kwargs: Any) -> Any:
            on_gpu = for_each_device and driver.available()
            return cached(driver.current_ordinal() if on_gpu else None, *args, **kwargs)

        _CACHES.append(cached)
        return memoized  # type: ignore[return-value]

    return decorated


def clear_memo() -> None:
    """Clear the caches of all memoized functions."""
    for cached in _CACHES:
        cached.cache_clear()
