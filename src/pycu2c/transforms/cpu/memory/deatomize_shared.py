"""Replace atomics on shared memory by plain operations (CPU).

One OS thread runs a whole block, and all blocks of a cluster, so these operations need no
atomicity.
"""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_expr, map_functions
from pycu2c.ops.intrinsics.memory.atomic import OWN


def deatomize_shared(module: ir.Module) -> ir.Module:
    """Replace atomics on shared arrays.

    ``cuda.atomic.add(&bins[b], 1)`` -> ``block.atomic.add(&bins[b], 1)``
    """
    return map_functions(module, lambda f: replace(f, body=map_expr(f.body, _deatomize)))


def _deatomize(e: ir.Expr) -> ir.Expr:
    if not isinstance(e, ir.Apply) or e.intrinsic not in OWN:
        return e
    element = e.arguments[0]
    assert isinstance(element, ir.ElementOf)
    array_type = element.array.type
    assert isinstance(array_type, Array)
    is_shared = array_type.space in (MemorySpace.SHARED, MemorySpace.CLUSTER)
    return replace(e, intrinsic=OWN[e.intrinsic]) if is_shared else e
