"""Which value of a call each parameter of a kernel gets: by position, by name, or by default.

Knows nothing of what the values are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

from pycu2c.base import spelling_suggestions
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass, field

T = TypeVar("T")
_Pick: TypeAlias = Callable[[tuple[object, ...]], tuple[object, ...]]

_METHOD = (
    "a kernel is not given the object that it is read from: write @staticmethod above @kernel, "
    "and a parameter for each thing that it needs"
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """A kernel's parameters. ``names`` has all of them: those that may be given by position
    (``positional`` many), those only by name, and last the one that takes the rest, if any."""

    kernel: str
    names: tuple[str, ...]
    positional: int
    rest: str | None
    defaults: Mapping[str, object]
    # how many arguments, and which names -> the values of the parameters out of all that there are
    _picks: dict[tuple[object, ...], _Pick] = field(default_factory=dict, compare=False, repr=False)

    @property
    def plain(self) -> bool:
        """Whether as many arguments as there are names, in order, are their values."""
        return self.positional == len(self.names)

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """A value for each parameter, in the order of ``names``. Raises LaunchError."""
        if not named and self.plain and len(given) == len(self.names):
            return given
        if self.rest is not None:
            return self._sorted_out(given, named, self.defaults)
        form = len(given), *named
        pick = self._picks.get(form)
        if pick is None:
            first, second = len(given), len(given) + len(named)
            places = dict(zip(named, range(first, second)))
            others = {name: i for i, name in enumerate(self.defaults, start=second)}
            order = self._sorted_out(tuple(range(first)), places, others)
            pick = self._picks[form] = _picking(order)
        return pick((*given, *named.values(), *self.defaults.values()))

    def _sorted_out(
        self, given: tuple[T, ...], named: Mapping[str, T], defaults: Mapping[str, T]
    ) -> tuple[Any, ...]:
        by_name: dict[str, Any] = dict(zip(self.names[: self.positional], given))
        if self.rest is not None:
            by_name[self.rest] = tuple(given[self.positional :])
        elif len(given) > self.positional:
            self._refuse_count(len(given) + len(named))
        for name, value in named.items():
            self._check(name, by_name)
            by_name[name] = value
        missing = [n for n in self.names if n not in by_name and n not in defaults]
        if missing:
            cure = f"; {_METHOD}" if self.names[0] == "self" else ""
            self._refuse_count(len(given) + len(named), f": {', '.join(missing)} missing{cure}")
        return tuple(by_name[n] if n in by_name else defaults[n] for n in self.names)

    def _check(self, name: str, by_name: Mapping[str, object]) -> None:
        """That a keyword names a parameter which has no value yet."""
        known = [n for n in self.names if n != self.rest]
        if name not in known:
            near = spelling_suggestions.nearest(name, known)
            cure = f"did you mean {near}?" if near else f"it has {', '.join(known)}"
            raise LaunchError(f"{self.kernel} has no parameter {name!r}: {cure}")
        if name in by_name:
            raise LaunchError(f"{self.kernel}: {name} is given twice, by position and by name")

    def _refuse_count(self, count: int, cure: str = "") -> None:
        known = [f"*{n}" if n == self.rest else n for n in self.names]
        least = len(self.names) - len(self.defaults) - (self.rest is not None)
        most = "or more " if self.rest else f"to {len(known)} " if self.defaults else ""
        noun = "argument" if known and least == 1 and not most else "arguments"
        raise LaunchError(
            f"{self.kernel} takes {least} {most}{noun} ({', '.join(known)}), {count} given{cure}"
        )


def _picking(places: Sequence[int]) -> _Pick:
    """What gives the items at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)


def parameters_of(function: FunctionType) -> Parameters:
    """What a kernel may be called with. The subset's check has refused ``**named``. (It takes
    ``inspect`` ten times as long to say the same.)"""
    code = function.__code__
    positional, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    has_rest = bool(code.co_flags & _TAKES_REST)
    names = code.co_varnames[: named + has_rest]
    values = function.__defaults__ or ()
    defaults: dict[str, object] = dict(zip(names[positional - len(values) : positional], values))
    by_name = function.__kwdefaults__ or {}
    defaults.update((name, by_name[name]) for name in names[positional:named] if name in by_name)
    rest = names[-1] if has_rest else None
    return Parameters(function.__name__, names, positional, rest, defaults)


_TAKES_REST = 0x04  # of a code object's flags: inspect.CO_VARARGS
