"""Bind the arguments of a call to the parameters of a kernel; view dates as integers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from pycu2c.base import spelling_suggestions
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass

_METHOD_HINT = (
    "a kernel cannot be a method: write @staticmethod above @kernel, and a parameter for each "
    "value that it needs"
)


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The parameters of a kernel, as ``inspect.Signature``.

    ``names`` contains the positional parameters first (their number is ``positional``), then
    keyword-only ones, and last the variadic one (``rest``).
    """

    kernel: str
    names: tuple[str, ...]
    positional: int
    rest: str | None
    defaults: Mapping[str, object]

    @property
    def is_positional(self) -> bool:
        """Return whether every parameter can be passed by position."""
        return self.positional == len(self.names)

    def bind(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """Return the value of each parameter, in the order of ``names``. Raises LaunchError."""
        if not kwargs and self.is_positional and len(args) == len(self.names):
            return args
        by_name: dict[str, Any] = dict(zip(self.names[: self.positional], args))
        if self.rest is not None:
            by_name[self.rest] = tuple(args[self.positional :])
        elif len(args) > self.positional:
            self._reject_count(len(args) + len(kwargs))
        for name, value in kwargs.items():
            self._check_keyword(name, by_name)
            by_name[name] = value
        missing = [n for n in self.names if n not in by_name and n not in self.defaults]
        if missing:
            hint = f"; {_METHOD_HINT}" if self.names[0] == "self" else ""
            self._reject_count(len(args) + len(kwargs), f": {', '.join(missing)} missing{hint}")
        return tuple(by_name[n] if n in by_name else self.defaults[n] for n in self.names)

    def _check_keyword(self, name: str, by_name: Mapping[str, object]) -> None:
        """Check that a keyword names a parameter without a value."""
        names = [n for n in self.names if n != self.rest]
        if name not in names:
            closest = spelling_suggestions.closest_name(name, names)
            hint = f"did you mean {closest}?" if closest else f"it has {', '.join(names)}"
            raise LaunchError(f"{self.kernel} has no parameter {name!r}: {hint}")
        if name in by_name:
            raise LaunchError(f"{self.kernel}: {name} is given twice, by position and by name")

    def _reject_count(self, count: int, hint: str = "") -> None:
        names = [f"*{n}" if n == self.rest else n for n in self.names]
        min_count = len(self.names) - len(self.defaults) - (self.rest is not None)
        count_range = "or more " if self.rest else f"to {len(names)} " if self.defaults else ""
        noun = "argument" if names and min_count == 1 and not count_range else "arguments"
        raise LaunchError(
            f"{self.kernel} takes {min_count} {count_range}{noun} ({', '.join(names)}), "
            f"{count} given{hint}"
        )


def call_signature(function: FunctionType) -> CallSignature:
    """Return the signature of a kernel. The subset check has rejected ``**kwargs``."""
    code = function.__code__
    positional, named_count = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    has_rest = bool(code.co_flags & inspect.CO_VARARGS)
    names = code.co_varnames[: named_count + has_rest]
    values = function.__defaults__ or ()
    defaults: dict[str, object] = dict(zip(names[positional - len(values) : positional], values))
    by_name = function.__kwdefaults__ or {}
    defaults.update(
        (name, by_name[name]) for name in names[positional:named_count] if name in by_name
    )
    rest = names[-1] if has_rest else None
    return CallSignature(function.__name__, names, positional, rest, defaults)


def times_as_integers(values: tuple[object, ...], names: Sequence[str]) -> tuple[object, ...]:
    """Return the arguments with ``datetime64`` and ``timedelta64`` viewed as int64.

    Raises LaunchError if their units differ.
    """
    times: list[Any] = [value for value in values if _is_time(value)]
    if not times:
        return values
    units = {np.datetime_data(time.dtype) for time in times}
    if len(units) > 1:
        described = ", ".join(
            f"{name} {value.dtype}" for name, value in zip(names, values) if _is_time(value)
        )
        raise LaunchError(
            f"all dates and durations of a launch must have the same unit, not {described}: "
            "convert them, for example with .astype('datetime64[s]')"
        )
    return tuple(value.view(np.int64) if _is_time(value) else value for value in values)


def _is_time(value: object) -> TypeGuard[np.ndarray[Any, Any] | np.generic]:
    if not isinstance(value, np.ndarray | np.generic):
        return False
    return value.dtype.kind in "mM" and value.dtype.isnative
