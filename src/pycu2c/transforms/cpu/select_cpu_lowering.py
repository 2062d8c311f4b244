"""Select the CPU lowering of a kernel: work-item loops, or coroutines.

Work-item loops are fast, but all threads of a scope must provably reach the same barrier.
Coroutines are correct for every kernel. Uses ``analysis.uniformity`` and ``analysis.busy_wait``.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TypeAlias

from pycu2c.analysis import uniformity
from pycu2c.analysis.busy_wait import is_busy_wait
from pycu2c.analysis.effects import effectful, reaches_cluster
from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.base.records import replace
from pycu2c.ir.nodes import (
    BarrierWait,
    Body,
    Break,
    Continue,
    For,
    If,
    Module,
    Stmt,
    SyncScope,
    While,
)
from pycu2c.ir.walk import bodies, map_stmt, operands, statements
from pycu2c.transforms.cpu.barriers import coroutines as in_steps
from pycu2c.transforms.cpu.fission import work_item_loops
from pycu2c.transforms.cpu.fission.single_region import (
    copy_assigned_parameters,
    is_block_array,
    single_work_item_loop,
)
from pycu2c.transforms.cpu.simd import divergent_loops

_Path: TypeAlias = "tuple[uniformity.Construct, ...]"
_WARP_SCOPES = (SyncScope.WARP, SyncScope.SYNCWARP, SyncScope.ACTIVE)


def profitable_strip_loops(body: Body, agreement: uniformity.Uniformity) -> Set[Stmt]:
    """Return the loops that are worth strip-mining."""
    return divergent_loops.divergent_loops(body, agreement)


def lower_threads(
    module: Module,
    facts: Facts,
    select_strips: work_item_loops.LoopSelector = profitable_strip_loops,
) -> Module:
    """Lower the code of one thread to code for all threads of a block.

    ``select_strips`` chooses the loops to strip-mine if the kernel becomes work-item loops.
    """
    if _synchronizes_uniformly(module.kernel.body, facts):
        return lower_to_work_item_loops(module, facts, select_strips)
    return in_steps.lower_to_coroutines(module)


def lower_to_work_item_loops(
    module: Module,
    facts: Facts,
    select_strips: work_item_loops.LoopSelector = profitable_strip_loops,
) -> Module:
    """Lower a kernel to work-item loops; ``select_strips`` chooses the loops to strip-mine."""
    kernel = copy_assigned_parameters(module.kernel)
    body = map_stmt(kernel.body, lambda s: (replace(s),))  # passes identify statements by identity
    shared = tuple(s for s in statements(body) if is_block_array(s))
    body = map_stmt(body, lambda s: () if is_block_array(s) else (s,))
    if any(isinstance(s, For | While | BarrierWait) for s in statements(body)):
        lowered = work_item_loops.WorkItemLowering(
            kernel, facts, effectful(module), select_strips
        ).block(body)
    else:
        lowered = single_work_item_loop(kernel, body)
    return replace(module, kernel=replace(kernel, body=(*shared, *lowered)))


def _synchronizes_uniformly(body: Body, facts: Facts) -> bool:
    if any(isinstance(s, For | While) and is_busy_wait(s) for s in statements(body)):
        return False
    waits = list(_waits_with_path(body, ()))
    scopes = {wait.scope for wait, _ in waits}
    if {SyncScope.GRID, SyncScope.CLUSTER} & scopes or reaches_cluster(body):
        return False
    enclosing = {s for wait, path in waits if wait.scope is SyncScope.BLOCK for s in path}
    if enclosing and _may_diverge_at_barriers(body, enclosing, facts):
        return False
    warp_constructs = {s for wait, path in waits if wait.scope in _WARP_SCOPES for s in path}
    return not (
        warp_constructs
        and warp_constructs & uniformity.warp_uniformity(body, facts.block).divergent
    )


def _waits_with_path(body: Body, path: _Path) -> Iterator[tuple[BarrierWait, _Path]]:
    """Yield the waits of a body, each with its enclosing constructs, outermost first."""
    for s in body:
        if isinstance(s, BarrierWait):
            yield s, path
        elif isinstance(s, If | While | For):
            for inner in bodies(s):
                yield from _waits_with_path(inner, (*path, s))


def _may_diverge_at_barriers(
    body: Body, enclosing: set[uniformity.Construct], facts: Facts
) -> bool:
    """Return whether threads of a block may wait at different barriers.

    A condition around a barrier must be uniform, or behaviour is undefined; so it is assumed to be.
    This does not apply if the thread index makes it vary, or if both branches have barriers.
    """
    agreement = uniformity.uniformity(body, facts.block)
    for s in enclosing & agreement.divergent:
        in_both_branches = isinstance(s, If) and all(
            any(True for _ in _waits_with_path(b, ())) for b in bodies(s)
        )
        jumps = [x for x in statements(bodies(s)[0]) if isinstance(x, If) and _jumps(x)]
        if in_both_branches or any(
            agreement.lanes.varies(e) for x in (s, *jumps) for e in operands(x)
        ):
            return True
    return False


def _jumps(s: If) -> bool:
    return any(isinstance(x, Break | Continue) for x in (*s.then, *s.orelse))
