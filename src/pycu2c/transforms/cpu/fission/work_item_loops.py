"""CPU: what every thread does -> what one block does, where its threads meet or have loops: the
ThreadLoops are cut where the threads meet.

``a; syncthreads(); b`` -> ``WorkItemLoop(a) WorkItemLoop(b)``. Takes flat, legal, declared kernels.

``uniformity`` tells what threads agree on, ``placement`` what stands outside the thread loops,
``split_at_barriers`` cuts, ``insert_context_arrays`` keeps what lives across a cut. A thread that has left a loop with
barriers before others goes on when all have left it; so nobody may spin on what it does next.
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

_LEAST_LANES = 8  # fewer threads are done sooner one by one
LoopSelector: TypeAlias = Callable[[Body, Uniformity], Set[Stmt]]


@dataclass(frozen=True, slots=True)
class WorkItemLowering:
    """Places the statements of one kernel."""

    kernel: Function
    facts: Facts
    effectful: Set[str]  # device functions
    select_strip_loops: LoopSelector

    def block(self, body: Body) -> Body:
        """The kernel's body as what a block does."""
        fresh = fresh_names(replace(self.kernel, body=body))
        body = use_lane_counters(body, live_after_loops(body, self._strips(body)), fresh)
        body = _with_coordinates(body, self._strips(body), fresh)
        body, turned = interchange_loops(body, uniformity(body), self.facts, self.effectful, fresh)
        strips = self._strips(body)
        if not strips and not turned and not has_wait(body):
            return single_work_item_loop(self.kernel, body)
        return self._met(body, strips, turned)

    def _strips(self, body: Body) -> Set[Stmt]:
        few = self.facts.threads < _LEAST_LANES
        return frozenset() if few else self.select_strip_loops(body, uniformity(body))

    def _met(self, body: Body, strips: Set[Stmt], turned: Set[Stmt]) -> Body:
        """With several thread loops: what is uniform and lives from one to another is computed
        by the block, which may move more code out of the loops; repeated until it moves nothing."""
        agreement, span = uniformity(body, self.facts.block), self.kernel.span
        fresh = fresh_names(replace(self.kernel, body=body))
        name = fresh("state")
        state = Var(context_array_name(name) if strips else name, Scalar(INT32), span)
        live = Var(fresh("live"), Scalar(INT32), span)
        own = {state.name, live.name}
        kept = live_after_loops(body, strips)
        everywhere = {p.name for p in self.kernel.parameters} | _arrays(body) | own
        wanted: set[str] = set()
        while True:
            masks = ActiveMasks(context_array(state, self.facts.threads), live)
            placement = place_regions(body, agreement, wanted, kept, turned)
            cut = fuse_lane_loops(split_at_barriers(body, agreement, placement, masks, span), masks)
            found = live_across_regions(cut, everywhere) - agreement.varying
            if found <= wanted:
                cut = remove_dead_live_flags(cut, masks)
                return insert_context_arrays(cut, everywhere, masks)
            wanted |= found


def _with_coordinates(body: Body, loops: Set[Stmt], fresh: Callable[[str], str]) -> Body:
    """A strip's lanes know their number alone: where else they stand is in variables."""
    asked = {
        e.intrinsic.name: e
        for e in all_expressions(tuple(loops))
        if isinstance(e, Apply) and e.intrinsic.is_divergent and e.intrinsic is not block_thread
    }
    if not asked:
        return body
    own = {name: Var(fresh(name), scalar_type(e), e.span) for name, e in sorted(asked.items())}

    def known(e: Expr) -> Expr:
        if not isinstance(e, Apply) or e.intrinsic.name not in own:
            return e
        return cast(own[e.intrinsic.name], scalar_type(e))  # loops may have it in 32 bits

    return (*(Declare(own[n], asked[n], asked[n].span) for n in own), *map_expr(body, known))


def _arrays(body: Body) -> set[str]:
    """All arrays that a kernel names; where its local ones live is not a scalar's question."""
    named: list[Expr] = [e for e in all_expressions(body) if isinstance(e, Var)]
    named += [s.var for s in statements(body) if isinstance(s, Allocate)]
    return {v.name for v in named if isinstance(v, Var) and isinstance(v.type, Array)}
