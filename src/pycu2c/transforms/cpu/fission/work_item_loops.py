"""Lower a kernel with barriers or loops to work-item loops (CPU).

``a; syncthreads(); b`` -> ``WorkItemLoop(a) WorkItemLoop(b)``. Requires flat, legal, declared IR in
which all threads of a scope reach the same barrier. ``uniformity`` finds values that threads agree
on, ``region_placement`` the statements outside the loops. ``loop_fission`` splits, and
``context_arrays`` keeps what is live across a split. A thread that leaves a loop with barriers
early continues when all threads have left it. So no thread may busy-wait for what it does next.
Reference: Karrenberg and Hack (2012); pocl.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TypeAlias

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.live_across_barriers import fresh_names
from pycu2c.analysis.liveness import live_after_loops
from pycu2c.analysis.region_placement import place_regions
from pycu2c.analysis.suspension_points import has_wait
from pycu2c.analysis.uniformity import Uniformity, uniformity
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Array, Scalar
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import Allocate, Apply, Body, Declare, Expr, Function, Stmt, Var
from pycu2c.ir.walk import all_expressions, map_expr, statements
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.transforms.cpu.fission.context_arrays import insert_context_arrays, live_across_regions
from pycu2c.transforms.cpu.fission.loop_fission import split_at_barriers
from pycu2c.transforms.cpu.fission.single_region import single_work_item_loop
from pycu2c.transforms.cpu.loops.interchange import interchange_loops
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks, context_array
from pycu2c.transforms.cpu.simd.lane_counters import use_lane_counters
from pycu2c.transforms.cpu.simd.lane_variables import context_array_name
from pycu2c.transforms.cpu.simd.strip_mining import fuse_lane_loops, remove_dead_live_flags

_MIN_LANES = 8  # a scalar loop is faster for fewer threads
LoopSelector: TypeAlias = Callable[[Body, Uniformity], Set[Stmt]]


@dataclass(frozen=True, slots=True)
class WorkItemLowering:
    """Lowers one kernel."""

    kernel: Function
    facts: Facts
    effectful: Set[str]  # device functions with side effects
    select_strip_loops: LoopSelector

    def block(self, body: Body) -> Body:
        """Return the kernel's body as what a block executes."""
        fresh = fresh_names(replace(self.kernel, body=body))
        body = use_lane_counters(body, live_after_loops(body, self._strip_loops(body)), fresh)
        body = _coordinates_to_variables(body, self._strip_loops(body), fresh)
        body, interchanged = interchange_loops(
            body, uniformity(body), self.facts, self.effectful, fresh
        )
        strips = self._strip_loops(body)
        if not strips and not interchanged and not has_wait(body):
            return single_work_item_loop(self.kernel, body)
        return self._split(body, strips, interchanged)

    def _strip_loops(self, body: Body) -> Set[Stmt]:
        too_few = self.facts.threads < _MIN_LANES
        return frozenset() if too_few else self.select_strip_loops(body, uniformity(body))

    def _split(self, body: Body, strips: Set[Stmt], interchanged: Set[Stmt]) -> Body:
        """Split into several work-item loops.

        Uniform variables that are live across regions become scalars of the block, which may move
        more code out of the loops. So the split is repeated until no variable is added.
        """
        uniform, span = uniformity(body, self.facts.block), self.kernel.span
        fresh = fresh_names(replace(self.kernel, body=body))
        name = fresh("state")
        state = Var(context_array_name(name) if strips else name, Scalar(INT32), span)
        live = Var(fresh("live"), Scalar(INT32), span)
        reserved = {state.name, live.name}
        live_after = live_after_loops(body, strips)
        shared = {p.name for p in self.kernel.parameters} | _arrays(body) | reserved
        block_scalars: set[str] = set()
        while True:
            masks = ActiveMasks(context_array(state, self.facts.threads), live)
            placement = place_regions(body, uniform, block_scalars, live_after, interchanged)
            regions = fuse_lane_loops(
                split_at_barriers(body, uniform, placement, masks, span), masks
            )
            needed = live_across_regions(regions, shared) - uniform.varying
            if needed <= block_scalars:
                regions = remove_dead_live_flags(regions, masks)
                return insert_context_arrays(regions, shared, masks)
            block_scalars |= needed


def _coordinates_to_variables(body: Body, loops: Set[Stmt], fresh: Callable[[str], str]) -> Body:
    """Read coordinates before the strips; in a strip, a lane has its thread index only."""
    coordinates = {
        e.intrinsic.name: e
        for e in all_expressions(tuple(loops))
        if isinstance(e, Apply) and e.intrinsic.is_divergent and e.intrinsic is not block_thread
    }
    if not coordinates:
        return body
    reserved = {
        name: Var(fresh(name), scalar_type(e), e.span) for name, e in sorted(coordinates.items())
    }

    def replace_coordinate(e: Expr) -> Expr:
        if not isinstance(e, Apply) or e.intrinsic.name not in reserved:
            return e
        return cast(reserved[e.intrinsic.name], scalar_type(e))  # loops may read it in 32 bits

    return (
        *(Declare(reserved[n], coordinates[n], coordinates[n].span) for n in reserved),
        *map_expr(body, replace_coordinate),
    )


def _arrays(body: Body) -> set[str]:
    """Return all arrays that a kernel names."""
    named: list[Expr] = [e for e in all_expressions(body) if isinstance(e, Var)]
    named += [s.var for s in statements(body) if isinstance(s, Allocate)]
    return {v.name for v in named if isinstance(v, Var) and isinstance(v.type, Array)}
