"""Bound the time that threads wait for others on a GPU, where a deadlock would never end.

Before a barrier or an operation of the warp that some threads may not reach, the others wait in
memory, and leave it out if not all have arrived in time. Loops that wait for another thread end.
"""

from __future__ import annotations

from collections.abc import Set

from pycu2c.analysis.busy_wait import is_busy_wait
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, uint64
from pycu2c.checks.context import (
    FINDINGS,
    CheckContext,
    Guard,
    all_of,
    compare,
    device_call,
    or_record,
)
from pycu2c.checks.device_functions import timed_barriers
from pycu2c.checks.shadow_arrays import ShadowParameter, cluster_extents
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import cast, integer
from pycu2c.ops.intrinsics.registry import REGISTRY, Effect
from pycu2c.ops.intrinsics.threads.barriers import DIVERGED
from pycu2c.ops.operators import EQ, NE
from pycu2c.runtime.findings import CheckKind

# each block has entries for its threads and warps, as ``timed_barriers`` describes them
ARRIVALS = ShadowParameter(
    ir.Var("arrivals.shadow", Array(uint64.dtype, 3, "C"), Span("", 0, 0, 0, 0))
)


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """Bounds the waiting of one function.

    convergent: the operations that need no bound. cluster: the blocks of a cluster, if any.
    arrivals: the memory in which threads wait; None if the function has none. bounds_loops: whether
    loops that wait have a limit.
    """

    context: CheckContext
    convergent: Set[ir.Apply]
    cluster: tuple[int, ...]
    arrivals: ir.Var | None
    bounds_loops: bool

    def guard(self, e: ir.Apply, checked: ir.Apply) -> Guard:
        """Return what waits for the threads of an operation, and leaves it out if they are absent.

        ``e``: the operation before it was instrumented.
        """
        if self.arrivals is None or not self._may_diverge(e):
            return Guard()
        kind: CheckKind = "divergent-barrier"
        values: dict[str, ir.Expr] = {}
        arguments: tuple[ir.Expr, ...] = (integer(len(self.context.table.sites) + 1, e.span),)
        match e.intrinsic.effect:
            case Effect.BARRIER:
                name = "wait_for_block"
            case Effect.GRID:
                name = "wait_for_grid"
            case Effect.CLUSTER:
                name = "wait_for_cluster"
                arguments += cluster_extents(self.cluster, e.span)
            case _:
                name, kind = "wait_for_lanes", "warp-sync"
                mask = cast(checked.arguments[0], WEAK_INT)
                lane = ir.Apply(REGISTRY["cuda.laneid"], (), WEAK_INT, e.span)
                arguments, values = (mask,), {"mask": mask, "lane": lane}
        call = device_call(name, e.span, FINDINGS, self.arrivals, *arguments, result=WEAK_INT)
        return self._guard(kind, call, values)

    def operation(self, e: ir.Apply, checked: ir.Apply) -> ir.Apply:
        """Return a barrier that does not hang where lanes of a warp have diverged.

        CUDA's barriers expect all lanes of a warp at one place: lanes that wait in a later
        iteration of a loop have arrived, too.
        """
        if self.arrivals is None or not self._may_diverge(e):
            return checked
        return replace(checked, intrinsic=DIVERGED.get(e.intrinsic, e.intrinsic))

    def _may_diverge(self, e: ir.Apply) -> bool:
        return may_wait(e) and e not in self.convergent

    def loop(self, s: ir.While, rewritten: ir.Stmt) -> ir.Body:
        """Return an instrumented loop; if it waits for another thread, it ends after some time."""
        if not (self.bounds_loops and is_busy_wait(s) and isinstance(rewritten, ir.While)):
            return (rewritten,)
        span = s.span
        start = self.context.variable("start", WEAK_INT, span)
        now = ir.Apply(REGISTRY["cuda.globaltimer"], (), WEAK_INT, span)
        call = device_call("loop_status", span, FINDINGS, start, result=WEAK_INT)
        guard = self._guard("deadlock", call, {})
        assert guard.condition is not None
        assignments = tuple(ir.Assign(var, value, span) for var, value in guard.bindings)
        leave = ir.If(guard.condition, (), (ir.Break(span),), span)
        body = (*assignments, leave, *rewritten.body)
        bounded = ir.While(rewritten.condition, body, span)
        return ir.Assign(start, now, span), bounded

    def _guard(self, kind: CheckKind, call: ir.Call, values: dict[str, ir.Expr]) -> Guard:
        """Return the guard of an operation before which a call waits for the threads."""
        context, span = self.context, call.span
        result = context.variable("result", WEAK_INT, span)
        failure = context.failure(kind, span, "", values)
        is_reported = compare(NE, result, integer(timed_barriers.ABSENT, span))
        is_complete = compare(EQ, result, integer(timed_barriers.COMPLETE, span))
        return Guard(((result, call),), all_of((or_record(is_reported, failure), is_complete)))


def record_exit(span: Span) -> ir.Call:
    """Return the call that records the end of a thread, so that none waits for it."""
    return device_call("record_exit", span, ARRIVALS.var)


def with_end(body: ir.Body, call: ir.Call) -> ir.Body:
    """Return the body of a kernel with a call at the end of each thread."""
    end = ir.Evaluate(call, call.span)

    def ended(s: ir.Stmt) -> ir.Body:
        return (end, s) if isinstance(s, ir.Return) else (s,)

    return (*walk.map_stmt(body, ended), end)


def may_wait(e: ir.Expr) -> bool:
    """Return whether an operation waits for other threads."""
    if not isinstance(e, ir.Apply) or not e.intrinsic.synchronizes:
        return False
    return e.intrinsic.effect is not Effect.WARP or bool(e.arguments)
