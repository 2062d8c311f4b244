"""CPU: which way a kernel's threads go: as loops over the threads of a block, which is fast, where
all that meet provably come there together; else in steps, which is right for every kernel."""

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
_OF_WARPS = (SyncScope.WARP, SyncScope.SYNCWARP, SyncScope.ACTIVE)


def profitable_strip_loops(body: Body, agreement: uniformity.Uniformity) -> Set[Stmt]:
    """The loops that threads are to run in strips."""
    return divergent_loops.divergent_loops(body, agreement)


def lower_threads(
    module: Module, facts: Facts, strips: work_item_loops.LoopSelector = profitable_strip_loops
) -> Module:
    """Turn the kernel from a thread's code into what runs all threads of a block. ``strips`` says
    which loops are run in strips of threads, if it is loops that they become."""
    if _come_together(module.kernel.body, facts):
        return lower_to_work_item_loops(module, facts, strips)
    return in_steps.lower_to_coroutines(module)


def lower_to_work_item_loops(
    module: Module, facts: Facts, strips: work_item_loops.LoopSelector = profitable_strip_loops
) -> Module:
    """Turn the kernel from a thread's code into a block's. ``strips`` says which loops are run
    in strips of threads."""
    kernel = copy_assigned_parameters(module.kernel)
    body = map_stmt(kernel.body, lambda s: (replace(s),))  # passes tell statements by identity
    shared = tuple(s for s in statements(body) if is_block_array(s))
    body = map_stmt(body, lambda s: () if is_block_array(s) else (s,))
    if any(isinstance(s, For | While | BarrierWait) for s in statements(body)):
        placed = work_item_loops.WorkItemLowering(kernel, facts, effectful(module), strips).block(
            body
        )
    else:
        placed = single_work_item_loop(kernel, body)
    return replace(module, kernel=replace(kernel, body=(*shared, *placed)))


def _come_together(body: Body, facts: Facts) -> bool:
    if any(isinstance(s, For | While) and is_busy_wait(s) for s in statements(body)):
        return False
    waits = list(_waits(body, ()))
    whom = {wait.scope for wait, _ in waits}
    if {SyncScope.GRID, SyncScope.CLUSTER} & whom or reaches_cluster(body):
        return False
    around = {s for wait, path in waits if wait.scope is SyncScope.BLOCK for s in path}
    if around and _go_apart(body, around, facts):
        return False
    lanes = {s for wait, path in waits if wait.scope in _OF_WARPS for s in path}
    return not (lanes and lanes & uniformity.warp_uniformity(body, facts.block).divergent)


def _waits(body: Body, path: _Path) -> Iterator[tuple[BarrierWait, _Path]]:
    """Where threads meet, with the constructs around, outermost first."""
    for s in body:
        if isinstance(s, BarrierWait):
            yield s, path
        elif isinstance(s, If | While | For):
            for inner in bodies(s):
                yield from _waits(inner, (*path, s))


def _go_apart(body: Body, around: set[uniformity.Construct], facts: Facts) -> bool:
    """Whether the threads of a block may wait at several barriers at once. A condition around a
    barrier that is no thread's own business is the same for all, or the program is undefined;
    not so one that tells threads apart by their places, or that leads to barriers either way."""
    agreement = uniformity.uniformity(body, facts.block)
    for s in around & agreement.divergent:
        both = isinstance(s, If) and all(any(True for _ in _waits(b, ())) for b in bodies(s))
        jumping = [x for x in statements(bodies(s)[0]) if isinstance(x, If) and _jumps(x)]
        if both or any(agreement.lanes.varies(e) for x in (s, *jumping) for e in operands(x)):
            return True
    return False


def _jumps(s: If) -> bool:
    return any(isinstance(x, Break | Continue) for x in (*s.then, *s.orelse))
