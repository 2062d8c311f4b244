"""Find what orders accesses of different blocks: fences, atomic operations, busy-wait loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pycu2c.analysis.busy_wait import polled_arrays
from pycu2c.base.types import Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.views import array_of
from pycu2c.ir.walk import all_expressions, operations, statements
from pycu2c.ops.intrinsics.registry import Effect


def needs_block_clocks(module: ir.Module) -> bool:
    """Return whether a kernel has fences, or barriers of the grid or the cluster."""
    intrinsics = (e.intrinsic for e in operations(module.functions))
    return any(i.effect in (Effect.GRID, Effect.CLUSTER) or is_fence(i.name) for i in intrinsics)


def is_fence(name: str) -> bool:
    return name.startswith("cuda.threadfence")


def has_untracked_accesses(module: ir.Module, clones: Collection[str]) -> bool:
    """Return whether functions that are not instrumented may access memory."""
    return any(
        isinstance(p.type, Array)
        for f in module.device_functions
        if f.name not in clones or f.external_code is not None
        for p in f.parameters
    )


def atomically_accessed_arrays(body: ir.Body) -> Iterator[str]:
    """Yield the arrays of a body that atomic operations access."""
    for e in all_expressions(body):
        if isinstance(e, ir.ElementOf):
            yield e.array.name


def polled_by_function(module: ir.Module) -> Mapping[str, set[str]]:
    """Return the arrays that busy-wait loops read by plain loads, by function.

    An array that a function polls is polled in its callers, and in what they call.
    """
    polled = {f.name: _polled_in(f.body) for f in module.functions}
    parameters = {f.name: [p.name for p in f.parameters] for f in module.functions}
    for f in module.functions:  # callees first
        for name, parameter, callee in _passed_arrays(f, parameters):
            if parameter in polled[callee]:
                polled[f.name].add(name)
    for f in reversed(module.functions):
        for name, parameter, callee in _passed_arrays(f, parameters):
            if name in polled[f.name]:
                polled[callee].add(parameter)
    return polled


def _polled_in(body: ir.Body) -> set[str]:
    loops = (s for s in statements(body) if isinstance(s, ir.For | ir.While))
    return {name for loop in loops for name in polled_arrays(loop)}


def _passed_arrays(
    function: ir.Function, parameters: Mapping[str, list[str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield the arrays that a function passes to others, with the parameter and the callee."""
    for e in all_expressions(function.body):
        if not isinstance(e, ir.Call) or e.function not in parameters:
            continue
        for argument, parameter in zip(e.arguments, parameters[e.function]):
            if array := array_of(argument):
                yield array.name, parameter, e.function
