"""Show the signature of an overload in ``help`` and ``inspect.signature``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_overloads

F = TypeVar("F", bound=Callable[..., Any])


def with_last_overload_signature(function: F) -> F:
    """Set the signature of a function whose own one is ``**arguments`` to its last overload."""
    vars(function)["__signature__"] = inspect.signature(get_overloads(function)[-1])
    return function
