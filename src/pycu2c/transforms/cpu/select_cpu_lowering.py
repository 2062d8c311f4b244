"""Select the CPU lowering of a kernel: work-item loops, or coroutines.

Work-item loops are fast, but all threads of a scope must provably reach the same barrier.
Coroutines are correct for every kernel. Uses ``analysis.uniformity`` and ``analysis.busy_wait``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from pycu2c.analysis.busy_wait import is_busy_wait
from pycu2c.analysis.effects import accesses_cluster
from pycu2c.analysis.uniformity import Construct, Uniformity
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, operands, statements
from pycu2c.ops.intrinsics import registry

_Path: TypeAlias = "tuple[Construct, ...]"
# of checked kernels: threads may not agree on the barrier, and lanes not on their masks
_CHECKS = ("skip_barriers.check", "skip_by_loop_exit.check", "is_in_mask.check")
_LIBRARY = str(Path(registry.__file__).parent)  # of groups, whose lanes agree
_WARP_SCOPES = (ir.SyncScope.WARP, ir.SyncScope.SYNCWARP, ir.SyncScope.ACTIVE)


def needs_coroutines(
    body: ir.Body,
    block_uniformity: Callable[[], Uniformity],
    warp_uniformity: Callable[[], Uniformity],
) -> bool:
    """Return whether threads may wait at different barriers, or wait for other blocks.

    The uniformity analyses are called only if constructs enclose barriers.
    """
    if any(isinstance(s, ir.For | ir.While) and is_busy_wait(s) for s in statements(body)):
        return True
    if any(isinstance(e, ir.Call) and _may_disagree(e) for e in all_expressions(body)):
        return True
    waits = list(_waits_with_path(body, ()))
    scopes = {wait.scope for wait, _ in waits}
    if {ir.SyncScope.GRID, ir.SyncScope.CLUSTER} & scopes or accesses_cluster(body):
        return True
    enclosing = {s for wait, path in waits if wait.scope is ir.SyncScope.BLOCK for s in path}
    if enclosing and _may_diverge_at_barriers(enclosing, block_uniformity()):
        return True
    warp_constructs = {s for wait, path in waits if wait.scope in _WARP_SCOPES for s in path}
    return bool(warp_constructs and warp_constructs & warp_uniformity().divergent)


def _may_disagree(e: ir.Call) -> bool:
    return e.function in _CHECKS and not e.span.file.startswith(_LIBRARY)


def _waits_with_path(body: ir.Body, path: _Path) -> Iterator[tuple[ir.BarrierWait, _Path]]:
    """Yield the waits of a body, each with its enclosing constructs, outermost first."""
    for s in body:
        if isinstance(s, ir.BarrierWait):
            yield s, path
        elif isinstance(s, ir.If | ir.While | ir.For):
            for inner in bodies(s):
                yield from _waits_with_path(inner, (*path, s))


def _may_diverge_at_barriers(enclosing: set[Construct], uniformity: Uniformity) -> bool:
    """Return whether threads of a block may wait at different barriers.

    A condition around a barrier must be uniform, or behaviour is undefined; so it is assumed to be.
    This does not apply if the thread index makes it vary, or if both branches have barriers.
    """
    for s in enclosing & uniformity.divergent:
        in_both_branches = isinstance(s, ir.If) and all(
            any(True for _ in _waits_with_path(b, ())) for b in bodies(s)
        )
        jumps = [x for x in statements(bodies(s)[0]) if isinstance(x, ir.If) and _jumps(x)]
        if in_both_branches or any(
            uniformity.lanes.varies(e) for x in (s, *jumps) for e in operands(x)
        ):
            return True
    return False


def _jumps(s: ir.If) -> bool:
    return any(isinstance(x, ir.Break | ir.Continue) for x in (*s.then, *s.orelse))
