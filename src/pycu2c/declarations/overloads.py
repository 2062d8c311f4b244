"""Show the options of functions with ``**arguments`` in ``help`` and ``inspect.signature``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, TypeVar, get_overloads

F = TypeVar("F", bound=Callable[..., Any])


def with_last_overload_signature(function: F) -> F:
    """Set the signature of a function to that of its last overload."""
    vars(function)["__signature__"] = signature(get_overloads(function)[-1])
    return function


def with_options_of(other: Callable[..., Any], without: Sequence[str]) -> Callable[[F], F]:
    """Add keyword-only parameters of another function to a signature with ``**options``."""

    def decorate(function: F) -> F:
        own = signature(function)
        *named, options = own.parameters.values()
        added = [
            parameter
            for name, parameter in signature(other).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
            and name not in own.parameters
            and name not in without
        ]
        vars(function)["__signature__"] = own.replace(parameters=[*named, *added, options])
        return function

    return decorate
