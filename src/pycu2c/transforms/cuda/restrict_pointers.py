"""Declare pointers ``__restrict__`` where the launch has no overlapping arrays (CUDA).

With ``c[i] += a[k] * b[k]`` in a loop, the compiler then keeps ``c[i]`` in a register, as it does
not change ``a`` or ``b``. The assumption is that of one thread: kernels in which threads
communicate are left alone, since a barrier changes memory that a restrict pointer reads.
"""

from __future__ import annotations

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import replace
from pycu2c.base.types import Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.forms import summarize_module
from pycu2c.ir.walk import all_expressions, contains, statements


def restrict_pointers(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Mark the pointers of the kernel, whose arrays do not overlap in the launch."""
    if not assumptions.distinct_arrays:
        return module
    kernel = module.kernel
    parameters = tuple(
        replace(p, unaliased=True) if p.part is ir.ArgumentPart.DATA else p
        for p in kernel.parameters
    )
    return replace(module, kernel=replace(kernel, parameters=parameters))


def aliasing_matters(module: ir.Module) -> bool:
    """Return whether a loop of a built kernel loads and stores elements of several arrays.

    False if threads communicate.
    """
    arrays = {p.name for p in module.kernel.parameters if isinstance(p.type, Array)}
    summary = summarize_module(module)
    if len(arrays) < 2 or summary.has_effects:
        return False
    loops = (s for s in statements(module.kernel.body) if isinstance(s, ir.For | ir.While))
    return any(_loads(s) & arrays and contains((s,), ir.Store) for s in loops)


def _loads(s: ir.Stmt) -> set[str]:
    return {e.array.name for e in all_expressions((s,)) if isinstance(e, ir.Load)}
