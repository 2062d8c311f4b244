"""Limit how long threads wait for others on a GPU, where a deadlock would never end.

Before a barrier or a warp operation that may diverge, threads wait in memory; they leave it out if
not all have arrived in time. Busy-wait loops end, too.
"""

from __future__ import annotations

from collections.abc import Set

from pycu2c.analysis.busy_wait import is_busy_wait
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT
from pycu2c.checks.context import CheckContext, Guard, all_of, compare, or_record
from pycu2c.checks.device_functions.timed_barriers import ABSENT, COMPLETE
from pycu2c.checks.hidden_arrays import FINDINGS, cluster_extents, device_call
from pycu2c.checks.proofs.convergence import may_wait
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, integer
from pycu2c.ops.intrinsics.registry import REGISTRY, Effect
from pycu2c.ops.intrinsics.threads.barriers import DIVERGED
from pycu2c.ops.operators import EQ, NE
from pycu2c.runtime.findings import CheckKind


@dataclass(frozen=True, slots=True)
class WaitTimeouts:
    """The time limits of one function.

    convergent: the operations that need none. cluster: the extents of the cluster. arrivals: the
    memory in which threads wait; None if the function has none. limits_loops: whether busy-wait
    loops have a limit.
    """

    context: CheckContext
    convergent: Set[ir.Apply]
    cluster: tuple[int, ...]
    arrivals: ir.Var | None
    limits_loops: bool

    def guard(self, e: ir.Apply, checked: ir.Apply) -> Guard:
        """Return the guard that leaves an operation out if threads are absent for too long.

        e: the operation before it was instrumented.
        """
        if self.arrivals is None or not self._may_diverge(e):
            return Guard()
        kind: CheckKind = "divergent-barrier"
        values: dict[str, ir.Expr] = {}
        arguments: tuple[ir.Expr, ...] = (integer(len(self.context.sites) + 1, e.span),)
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
        """Return a barrier that diverged lanes of a warp may execute separately.

        Those of CUDA hang if the lanes of a warp are in different iterations of a loop.
        """
        if self.arrivals is None or not self._may_diverge(e):
            return checked
        return replace(checked, intrinsic=DIVERGED.get(e.intrinsic, e.intrinsic))

    def _may_diverge(self, e: ir.Apply) -> bool:
        return may_wait(e) and e not in self.convergent

    def loop(self, s: ir.While, rewritten: ir.Stmt) -> ir.Body:
        """Return an instrumented loop; a busy-wait loop ends after the time limit."""
        if not (self.limits_loops and is_busy_wait(s) and isinstance(rewritten, ir.While)):
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
        """Return a guard that holds if the result of a call that waits is COMPLETE."""
        context, span = self.context, call.span
        result = context.variable("result", WEAK_INT, span)
        failure = context.failure(kind, span, "", values)
        is_reported = compare(NE, result, integer(ABSENT, span))
        is_complete = compare(EQ, result, integer(COMPLETE, span))
        return Guard(((result, call),), all_of((or_record(is_reported, failure), is_complete)))
