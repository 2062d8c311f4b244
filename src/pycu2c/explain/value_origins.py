"""Where the values of variables come from: the assignments of each, in one function."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.records import dataclass
from pycu2c.ir.nodes import Assign, Expr, For, Function, Let
from pycu2c.ir.walk import all_expressions, statements

Origins = Mapping[str, tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class Subject:
    """The function that is looked at: the kernel itself, or one that it calls."""

    function: Function
    is_kernel: bool


def origins(function: Function) -> Origins:
    """For each variable the values that it is given; for the counter of a loop its first."""
    found: dict[str, tuple[Expr, ...]] = {}
    for s in statements(function.body):
        match s:
            case Assign(var=var, value=value) | For(var=var, start=value):
                found[var.name] = (*found.get(var.name, ()), value)
            case _:
                pass
    for e in all_expressions(function.body):
        if isinstance(e, Let):
            found[e.name] = (*found.get(e.name, ()), e.value)
    return found


def counters(function: Function) -> dict[str, For]:
    """The loops that count, by the name of their counters."""
    return {s.var.name: s for s in statements(function.body) if isinstance(s, For)}


def plain(name: str) -> str:
    """The user's name of a variable: ``x`` for ``x.1``."""
    return name.split(".")[0]
