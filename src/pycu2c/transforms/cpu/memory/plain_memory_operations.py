"""Replace cache hints and atomics on shared memory by plain operations (CPU).

``cuda.stcs(&a[i], cuda.ldcg(&a[i]))`` -> ``a[i] = a[i]``, and ``cuda.atomic.add(&bins[b], 1)`` ->
``block.atomic.add(&bins[b], 1)``, which is not atomic. One OS thread runs a whole block, and all
blocks of a cluster, so shared memory needs no atomics. C has no cache hints. A loop that polls by
``cuda.ldcv`` gets a fence, so it still is a busy-wait loop (``analysis/busy_wait.py``).

Requires the form ORDERED (``ir/forms.py``): operations with a fixed order are statements.
"""

from __future__ import annotations

from pycu2c.analysis.busy_wait import has_fence, polls_by
from pycu2c.base.records import replace
from pycu2c.base.types import VOID, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.views import field_at_path
from pycu2c.ir.walk import map_expr, map_functions, map_stmt, with_body
from pycu2c.ops.intrinsics.memory.atomic import NONATOMIC
from pycu2c.ops.intrinsics.memory.cache_hints import LOADS, STORES
from pycu2c.ops.intrinsics.registry import REGISTRY


def use_plain_memory_operations(module: ir.Module) -> ir.Module:
    """Replace the operations in all functions of a module."""
    return map_functions(
        module,
        lambda f: with_body(
            f, map_stmt(map_expr(map_stmt(f.body, _with_fence), _plain_operation), _plain_store)
        ),
    )


def _with_fence(s: ir.Stmt) -> ir.Body:
    if not isinstance(s, ir.While) or has_fence(s) or not polls_by(s, REGISTRY["cuda.ldcv"]):
        return (s,)
    fence = ir.Apply(REGISTRY["cuda.threadfence_block"], (), VOID, s.span)
    return (replace(s, body=(ir.Evaluate(fence, s.span), *s.body)),)


def _plain_operation(e: ir.Expr) -> ir.Expr:
    """Return a plain load for a load with a hint, and a plain update for a shared atomic."""
    if not isinstance(e, ir.Apply) or e.intrinsic not in (*LOADS, *NONATOMIC):
        return e
    element = e.arguments[0]
    assert isinstance(element, ir.ElementOf)
    if e.intrinsic in LOADS:
        return field_at_path(ir.Load(element.array, element.indices, e.span), element.path, e.span)
    is_shared = ir.memory_space(element.array) in (MemorySpace.SHARED, MemorySpace.CLUSTER)
    return replace(e, intrinsic=NONATOMIC[e.intrinsic]) if is_shared else e


def _plain_store(s: ir.Stmt) -> ir.Body:
    if not isinstance(s, ir.Evaluate) or not isinstance(s.value, ir.Apply):
        return (s,)
    if s.value.intrinsic not in STORES:
        return (s,)
    element, value = s.value.arguments
    assert isinstance(element, ir.ElementOf)
    return (ir.Store(element.array, element.indices, value, s.span, element.path),)
