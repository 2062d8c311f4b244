"""Who calls whom, and what is said of a function where it follows from those that it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pycu2c.ir.nodes import Call, Function, Module
from pycu2c.ir.walk import all_expressions

T = TypeVar("T")


def called(function: Function) -> frozenset[str]:
    """The device functions that a function calls itself."""
    return frozenset(e.function for e in all_expressions(function.body) if isinstance(e, Call))


def summarized(
    functions: Sequence[Function], say: Callable[[Function, Mapping[str, T]], T], nothing: T
) -> dict[str, T]:
    """What ``say`` says of each function, given what is said of the others. Callees come first;
    it begins with ``nothing`` for those that call each other, and must only ever grow."""
    found = {f.name: nothing for f in functions}
    settled = False
    while not settled:
        before = dict(found)
        for f in functions:
            found[f.name] = say(f, found)
        settled = found == before
    return found


def reached(functions: Sequence[Function]) -> dict[str, frozenset[str]]:
    """The device functions that a call of each function comes to."""

    def of(function: Function, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
        own = called(function)
        return own.union(*(known[name] for name in own))

    nothing: frozenset[str] = frozenset()
    return summarized(functions, of, nothing)


def recursive(module: Module) -> frozenset[str]:
    """The device functions that may come to be called while they run."""
    found = reached(module.devices)
    return frozenset(name for name, names in found.items() if name in names)
