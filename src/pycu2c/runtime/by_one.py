"""Values that are computed once, by one thread."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def by_one(compute: F) -> F:
    """A function whose values are computed once, by one thread, for which others wait."""
    known, alone = functools.cache(compute), threading.RLock()

    def found(*given: Any) -> Any:
        with alone:
            return known(*given)

    cached: Any = functools.cache(found)
    functools.update_wrapper(cached, compute)
    return cast(F, cached)
