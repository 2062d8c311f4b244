"""The call graph, and interprocedural summaries computed as a fixed point over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions

T = TypeVar("T")


def callees(function: ir.Function) -> frozenset[str]:
    """Return the names of the device functions that a function calls directly."""
    return frozenset(e.function for e in all_expressions(function.body) if isinstance(e, ir.Call))


def fixed_point_summaries(
    functions: Sequence[ir.Function],
    summarize: Callable[[ir.Function, Mapping[str, T]], T],
    bottom: T,
) -> dict[str, T]:
    """Return the summary of each function, the least fixed point of ``summarize``.

    Callees precede callers. All summaries start as ``bottom``, and ``summarize`` is monotone.
    """
    summaries = {f.name: bottom for f in functions}
    converged = False
    while not converged:
        before = dict(summaries)
        for f in functions:
            summaries[f.name] = summarize(f, summaries)
        converged = summaries == before
    return summaries


def functions_that(
    functions: Sequence[ir.Function], holds: Callable[[ir.Function, frozenset[str]], bool]
) -> frozenset[str]:
    """Return the names of the functions with a property, the least fixed point of ``holds``.

    ``holds`` receives a function and the names of the functions that are known to have it.
    """

    def summarize(function: ir.Function, summaries: Mapping[str, bool]) -> bool:
        return holds(
            function, frozenset(name for name, has_property in summaries.items() if has_property)
        )

    properties = fixed_point_summaries(functions, summarize, False)
    return frozenset(name for name, has_property in properties.items() if has_property)


def transitive_callees(functions: Sequence[ir.Function]) -> dict[str, frozenset[str]]:
    """Return, for each function, the names of the functions that it calls transitively."""
    direct = {f.name: callees(f) for f in functions}

    def summarize(function: ir.Function, summaries: Mapping[str, frozenset[str]]) -> frozenset[str]:
        called = direct[function.name]
        return called.union(*(summaries[name] for name in called))

    no_callees: frozenset[str] = frozenset()
    return fixed_point_summaries(functions, summarize, no_callees)


def recursive_functions(module: ir.Module) -> frozenset[str]:
    """Return the names of the device functions that call themselves, directly or indirectly."""
    called = transitive_callees(module.device_functions)
    return frozenset(name for name, callee_names in called.items() if name in callee_names)
