"""Find the definitions of each variable of a function."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.records import dataclass
from pycu2c.ir.nodes import Assign, Expr, For, Function, Let
from pycu2c.ir.walk import all_expressions, statements

Origins = Mapping[str, tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class ExplainedFunction:
    """The function to explain: a kernel, or a device function that it calls."""

    function: Function
    is_kernel: bool


def origins(function: Function) -> Origins:
    """Return the values assigned to each variable; for a loop counter the first value."""
    values: dict[str, tuple[Expr, ...]] = {}
    for s in statements(function.body):
        match s:
            case Assign(var=var, value=value) | For(var=var, start=value):
                values[var.name] = (*values.get(var.name, ()), value)
    for e in all_expressions(function.body):
        if isinstance(e, Let):
            values[e.name] = (*values.get(e.name, ()), e.value)
    return values


def loops_by_counter(function: Function) -> dict[str, For]:
    """Return the for loops by the name of their counter."""
    return {s.var.name: s for s in statements(function.body) if isinstance(s, For)}
