"""Record operations that order accesses: barriers, warp operations, fences, atomic operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_BOOL
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS
from pycu2c.checks.block_synchronization import is_fence
from pycu2c.checks.context import CheckContext, Guard
from pycu2c.checks.hidden_arrays import (
    THREAD_STATE,
    block_clocks,
    cluster_extents,
    device_call,
    lane_call,
    unsigned,
)
from pycu2c.checks.shadow_arrays import Shadow
from pycu2c.checks.shadow_plan import ShadowPlan
from pycu2c.ir import nodes as ir
from pycu2c.ops.intrinsics.registry import Effect


@dataclass(frozen=True, slots=True)
class SynchronizationEvents:
    """The events of one function.

    plan: of the kernel. shadows: of the arrays of the function. has_state: whether the function has
    the state of the thread. polled: the arrays that busy-wait loops read.
    """

    context: CheckContext
    plan: ShadowPlan
    shadows: Mapping[str, Shadow]
    has_state: bool
    polled: Set[str]

    @property
    def has_clocks(self) -> bool:
        """Whether the function has the clocks of blocks."""
        return self.has_state and self.plan.has_block_clocks

    def before(self, e: ir.Apply) -> Guard:
        """Return what is called before an operation that orders accesses of blocks."""
        calls = [self._synchronize(a, releases=not _only_reads(e)) for a in self._atomics(e)]
        if self.has_clocks and e.intrinsic.effect is Effect.CLUSTER:
            calls.append(self._call("arrive_at_cluster_barrier", e, *block_clocks(e.span)))
        return self._guard(calls)

    def _guard(self, calls: list[ir.Call]) -> Guard:
        variable = self.context.variable
        return Guard(tuple((variable("synchronized", WEAK_BOOL, c.span), c) for c in calls))

    def after(self, e: ir.Apply) -> Iterator[ir.Expr]:
        """Yield the calls after an operation that orders accesses."""
        if not self.has_state or e.intrinsic.name == "cuda.activemask":
            return
        effect, compares_lanes = e.intrinsic.effect, self.plan.compares_lanes
        if effect in BARRIER_EFFECTS:
            yield self._call("advance_epoch", e)
            if compares_lanes:
                yield lane_call("reset_lane_clock", e.span)
        elif effect is Effect.WARP and compares_lanes:
            yield lane_call("copy_lane_clock", e.span)
        elif effect is Effect.WARP:
            yield self._call("record_warp_operation", e)
        if not self.has_clocks:
            return
        clocks = block_clocks(e.span)
        if effect is Effect.GRID:
            yield self._call("record_grid_barrier", e, *clocks)
        elif effect is Effect.CLUSTER:
            extents = cluster_extents(self.plan.cluster, e.span)
            yield self._call("join_cluster_clocks", e, *clocks, *extents)
        elif is_fence(e.intrinsic.name):
            is_of_device = not e.intrinsic.name.endswith("_block")
            yield self._call("record_fence", e, *clocks, unsigned(is_of_device, e.span))
        yield from (self._synchronize(element, releases=False) for element in self._atomics(e))

    def after_load(self, element: ir.ElementOf) -> Iterator[ir.Expr]:
        """Yield the call that acquires by a load of a polled array."""
        if self.has_clocks and element.array.name in self.polled:
            yield self._synchronize(element, releases=False)

    def before_store(self, element: ir.ElementOf) -> Guard:
        """Return what releases before a store to a polled array."""
        is_polled = self.has_clocks and element.array.name in self.polled
        return self._guard([self._synchronize(element, releases=True)] if is_polled else [])

    def _atomics(self, e: ir.Apply) -> list[ir.ElementOf]:
        """Return the elements of an operation that may order accesses."""
        elements = [a for a in e.arguments if isinstance(a, ir.ElementOf)]
        is_atomic = "atomic" in e.intrinsic.name
        is_atomic = is_atomic or any(a.array.name in self.polled for a in elements)
        return elements if self.has_clocks and is_atomic else []

    def _synchronize(self, element: ir.ElementOf, *, releases: bool) -> ir.Call:
        """Return the call that acquires, and may release, by an element."""
        span, name = element.span, "synchronize_untracked"
        arguments = THREAD_STATE, *block_clocks(span), unsigned(releases, span)
        if element.array.name not in self.shadows:
            return device_call(name, span, *arguments)
        shadow = self.shadows[element.array.name]
        name = shadow.function("synchronize_element")
        return device_call(name, span, shadow.cells(element, 0, 1), *arguments)

    def _call(self, name: str, e: ir.Apply, *arguments: ir.Expr) -> ir.Call:
        return device_call(name, e.span, THREAD_STATE, *arguments)


def _only_reads(e: ir.Apply) -> bool:
    """Return whether an operation reads an element: ``cuda.atomic.add(flag, 0, 0)``."""
    name, value = e.intrinsic.name.rpartition(".")[2], e.arguments[-1]
    is_zero = isinstance(value, ir.Const) and value.value == 0
    return e.intrinsic.reads or (is_zero and name in ("add", "sub", "or_", "xor"))
