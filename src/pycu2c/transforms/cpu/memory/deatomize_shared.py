"""CPU: atomics on shared memory are plain operations, since one OS thread runs a whole block,
and all blocks of a cluster."""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir.nodes import Apply, ElementOf, Expr, Module
from pycu2c.ir.walk import map_expr, map_functions
from pycu2c.ops.intrinsics.memory.atomic import OWN


def deatomize_shared(module: Module) -> Module:
    """``cuda.atomic.add(&bins[b], 1)`` of a shared array -> ``block.atomic.add(&bins[b], 1)``."""
    return map_functions(module, lambda f: replace(f, body=map_expr(f.body, _owned)))


def _owned(e: Expr) -> Expr:
    if not isinstance(e, Apply) or e.intrinsic not in OWN:
        return e
    place = e.arguments[0]
    assert isinstance(place, ElementOf)
    kind = place.array.type
    assert isinstance(kind, Array)
    own = kind.space in (MemorySpace.SHARED, MemorySpace.CLUSTER)
    return replace(e, intrinsic=OWN[e.intrinsic]) if own else e
