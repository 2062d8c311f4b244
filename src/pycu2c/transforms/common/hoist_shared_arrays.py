"""Allocate the shared arrays of device functions in the kernel, which passes them.

``def total(x): part = shared.array(64)`` and ``total(y)`` -> ``def total(x, part)`` and
``total(y, part)``. In CUDA, all calls of a function use the same static shared array. After this
pass, the calls may be inlined, or call clones of the function. Arrays in dynamic shared memory
remain, as they share memory anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycu2c.analysis.effects import is_dynamic
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.call_graph import callees, fixed_point_summaries


@dataclass(frozen=True, slots=True)
class _SharedArray:
    function: str
    var: ir.Var

    def name_in(self, function: ir.Function) -> ir.Var:
        """Return the variable for the array in a function that allocates or passes it."""
        if function.name == self.function:
            return self.var
        return replace(self.var, name=f"{self.var.name}.{self.function}")


_Arrays = Mapping[str, tuple[_SharedArray, ...]]  # by the names of functions


def hoist_shared_arrays(module: ir.Module) -> ir.Module:
    """Move the static shared arrays of device functions to the kernel."""
    allocated = {f.name: tuple(_allocated(f)) for f in module.device_functions}
    if not any(allocated.values()):
        return module

    def used(f: ir.Function, arrays: _Arrays) -> tuple[_SharedArray, ...]:
        passed = (a for name in sorted(callees(f)) for a in arrays.get(name, ()))
        return tuple(dict.fromkeys((*allocated.get(f.name, ()), *passed)))

    none: tuple[_SharedArray, ...] = ()
    arrays = fixed_point_summaries(module.functions, used, none)
    devices = tuple(_with_parameters(f, arrays) for f in module.device_functions)
    kernel = module.kernel
    allocations = (ir.Allocate(v, v.span) for v in _variables(kernel, arrays))
    body = (*allocations, *_with_arguments(kernel, arrays))
    return replace(module, kernel=replace(kernel, body=body), device_functions=devices)


def _allocated(function: ir.Function) -> Iterator[_SharedArray]:
    for s in walk.statements(function.body):
        if _is_static_shared(s):
            assert isinstance(s, ir.Allocate)
            yield _SharedArray(function.name, s.var)


def _is_static_shared(s: ir.Stmt) -> bool:
    if not isinstance(s, ir.Allocate) or is_dynamic(s.var):
        return False
    return ir.memory_space(s.var) is MemorySpace.SHARED


def _variables(function: ir.Function, arrays: _Arrays) -> list[ir.Var]:
    return [array.name_in(function) for array in arrays[function.name]]


def _with_parameters(function: ir.Function, arrays: _Arrays) -> ir.Function:
    """Return a device function whose shared arrays are parameters."""
    first = max((p.argument for p in function.parameters), default=-1) + 1
    added = (
        ir.Parameter(v.name, v.type, n) for n, v in enumerate(_variables(function, arrays), first)
    )
    body = walk.map_stmt(
        _with_arguments(function, arrays), lambda s: () if _is_static_shared(s) else (s,)
    )
    return replace(function, parameters=(*function.parameters, *added), body=body)


def _with_arguments(function: ir.Function, arrays: _Arrays) -> ir.Body:
    """Return the body of a function, whose calls pass shared arrays."""

    def with_arrays(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Call) or not arrays.get(e.function):
            return e
        added = (array.name_in(function) for array in arrays[e.function])
        return replace(e, arguments=(*e.arguments, *added))

    return walk.map_expr(function.body, with_arrays)
