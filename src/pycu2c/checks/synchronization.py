"""Check that the threads of a block meet at one barrier, and that masks name the calling lane."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar, uint64
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS, BarrierBits
from pycu2c.checks.block_order import is_fence
from pycu2c.checks.context import (
    FINDINGS,
    Bindings,
    CheckContext,
    Guard,
    all_of,
    compare,
    device_call,
    or_record,
)
from pycu2c.checks.device_functions import barrier_divergence, shadow_words, warp_lanes
from pycu2c.checks.proofs.convergence import has_mask, is_full_mask
from pycu2c.checks.races import RaceChecks, shadow_number
from pycu2c.checks.shadow_arrays import (
    BARRIERS,
    LANES,
    THREAD_STATE,
    clocks,
    cluster_extents,
    row_of_grid,
    rows_of_block,
)
from pycu2c.checks.shadow_plan import ShadowPlan
from pycu2c.checks.shuffle_uses import ShuffleUses
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, integer
from pycu2c.ops.intrinsics.registry import REGISTRY, Effect
from pycu2c.ops.operators import EQ, LT

_ALL_BITS = (1 << barrier_divergence.MAX_BARRIERS) - 1


@dataclass(frozen=True, slots=True)
class SynchronizationChecks:
    """The checks of one function.

    has_clock: whether the function has the clock of the thread. skips: where threads may go past
    barriers and operations of the warp. uses: the shuffles that read undefined values which a right
    kernel does not use. ends_early: whether threads may end before others.
    """

    context: CheckContext
    races: RaceChecks
    plan: ShadowPlan
    has_clock: bool
    skips: BarrierBits
    uses: ShuffleUses
    ends_early: bool

    def guard(self, e: ir.Apply, checked: ir.Apply) -> tuple[Guard, ir.Apply]:
        """Return what checks an operation that synchronizes, and the operation."""
        is_checked = "sync" in self.context.groups
        if e.intrinsic.effect in BARRIER_EFFECTS and self.has_clock and self.plan.has_barriers:
            return self._guard_barrier(e), checked
        if not has_mask(e) or not (is_checked or self._compares_lanes):
            return Guard(), checked
        mask, bindings = self.context.bind(cast(checked.arguments[0], WEAK_INT), "mask")
        checked = replace(checked, arguments=(mask, *checked.arguments[1:]))
        if not is_checked or is_full_mask(mask):
            return Guard(bindings), checked
        lane: ir.Expr = ir.Apply(REGISTRY["cuda.laneid"], (), WEAK_INT, e.span)
        failure = self.context.failure("warp-sync", e.span, "", {"mask": mask, "lane": lane})
        is_in_mask = device_call("is_in_mask", e.span, mask)
        return Guard(bindings, or_record(is_in_mask, failure), skips=False), checked

    @property
    def _compares_lanes(self) -> bool:
        return self.has_clock and self.plan.compares_lanes

    @property
    def _skips_lanes(self) -> bool:
        return self.has_clock and bool(self.skips.skipped & self.skips.of_warp)

    def before(self, e: ir.Apply) -> Guard:
        """Return what is called before an operation that orders accesses of blocks."""
        calls: list[ir.Expr] = []
        if self.races.has_block_clocks and e.intrinsic.effect is Effect.CLUSTER:
            calls.append(self._call("arrive_at_cluster_barrier", e, *clocks(e.span)))
        if self._is_atomic(e):
            calls += (
                self.races.synchronize(element, releases=not _only_reads(e))
                for element in e.arguments
                if isinstance(element, ir.ElementOf)
            )
        variable = self.context.variable
        return Guard(tuple((variable("synchronized", WEAK_BOOL, e.span), c) for c in calls))

    def after(self, e: ir.Apply) -> Iterator[ir.Expr]:
        """Yield the calls that count an operation that orders accesses, if it does."""
        if not self.has_clock or e.intrinsic.name == "cuda.activemask":
            return
        effect = e.intrinsic.effect
        order = clocks(e.span) if self.races.has_block_clocks else ()
        if effect in BARRIER_EFFECTS:
            yield self._call("advance_epoch", e)
            if self._compares_lanes:
                yield lane_call("reset_lane_clock", e.span)
        elif effect is Effect.WARP and self._compares_lanes:
            yield lane_call("copy_lane_clock", e.span)
        elif effect is Effect.WARP:
            yield self._call("record_warp_operation", e)
        if effect is Effect.WARP and self._skips_lanes:
            yield self._call("clear_skips", e, shadow_number(self.skips.of_warp, e.span))
        if order and effect is Effect.GRID:
            yield self._call("record_grid_barrier", e, *order)
        elif order and effect is Effect.CLUSTER:
            extents = cluster_extents(self.plan.cluster, e.span)
            yield self._call("join_cluster_clocks", e, *order, *extents)
        elif order and is_fence(e.intrinsic.name):
            is_of_device = not e.intrinsic.name.endswith("_block")
            yield self._call("record_fence", e, *order, shadow_number(is_of_device, e.span))
        if self._is_atomic(e):
            for element in e.arguments:
                if isinstance(element, ir.ElementOf):
                    yield self.races.synchronize(element, releases=False)

    def _is_atomic(self, e: ir.Apply) -> bool:
        """Return whether an operation on an element may order accesses."""
        elements = (a for a in e.arguments if isinstance(a, ir.ElementOf))
        is_atomic = "atomic" in e.intrinsic.name
        return self.races.has_block_clocks and any(
            is_atomic or a.array.name in self.races.polled for a in elements
        )

    def _call(self, name: str, e: ir.Apply, *arguments: ir.Expr) -> ir.Call:
        return device_call(name, e.span, THREAD_STATE, *arguments)

    def _guard_barrier(self, e: ir.Apply) -> Guard:
        context = self.context
        other = context.variable("other", uint64, e.span)
        failure = context.failure("divergent-barrier", e.span, "", {"other": other})
        rows, site = rows_of_block(BARRIERS, e.span), self._last_site(e.span)
        bit = shadow_number(self.skips.of_operation(e), e.span)
        call = device_call(
            "arrive_at_barrier", e.span, rows, site, bit, THREAD_STATE, result=uint64
        )
        is_same = compare(EQ, other, shadow_number(0, e.span))
        bindings: Bindings = ((other, call),)
        if e.intrinsic.effect is Effect.GRID:
            counted = context.variable("counted", WEAK_BOOL, e.span)
            bindings = ((counted, self._call("arrive_at_grid_barrier", e, site)), *bindings)
        return Guard(bindings, or_record(is_same, failure), skips=False)

    def _last_site(self, span: Span) -> ir.Const:
        return shadow_number(min(len(self.context.table.sites), shadow_words.MAX_SITE), span)

    def around(self, s: ir.Stmt) -> tuple[ir.Body, tuple[ir.Body, ...], ir.Body]:
        """Return what is before a statement, at the ends of its bodies, and after it."""
        skips = self.skips.at(s)
        before = self._skip(skips.before, s.span)
        if skips.kept is not None:
            before = self.check_skips_at_exit(skips.kept, s.span)
        branches = self._skip(skips.then, s.span), self._skip(skips.orelse, s.span)
        return before, branches, self._skip(skips.after, s.span, "skip_by_loop_exit")

    def _skip(self, bits: int, span: Span, name: str = "skip_barriers") -> ir.Body:
        return (ir.Evaluate(self._skip_call(bits, span, name), span),) if bits else ()

    def _skip_call(self, bits: int, span: Span, name: str = "skip_barriers") -> ir.Call:
        return device_call(name, span, THREAD_STATE, shadow_number(bits, span))

    def skipped_by_operands(
        self, e: ir.Logical | ir.Select
    ) -> tuple[ir.Call | None, ir.Call | None]:
        """Return what records the barriers that a thread skips, by the value of the condition."""
        of_operand = self.skips.of_operand
        if isinstance(e, ir.Select):
            bits = of_operand(e.orelse), of_operand(e.then)
        else:
            is_or = e.op is ir.LogicalOp.OR
            bits = (of_operand(e.right), 0) if is_or else (0, of_operand(e.right))
        then, orelse = (self._skip_call(b, e.span) if b else None for b in bits)
        return then, orelse

    def confirm_skips(self, span: Span) -> Guard:
        """Return what records that the thread has an effect, if it may have skipped a barrier."""
        if not self.skips.skipped:
            return Guard()
        if self.plan.has_barriers:
            self.context.failure("divergent-barrier", span, "", {}, "goes on")
        return Guard(
            (), device_call("confirm_skips", span, THREAD_STATE, self._last_site(span)), skips=False
        )

    def check_skips_at_exit(self, kept: int, span: Span) -> ir.Body:
        """Return what compares the barriers that a thread has skipped, at its end."""
        calls: list[ir.Expr] = []
        if self._skips_lanes:
            bits = shadow_number(kept & self.skips.of_warp, span)
            calls.append(lane_call("store_skips", span, bits))
        if self.plan.has_barriers and self.skips.skipped & ~self.skips.of_warp:
            bits = shadow_number(kept & _ALL_BITS & ~self.skips.of_warp, span)
            rows = rows_of_block(BARRIERS, span)
            calls.append(
                device_call("check_skips_at_exit", span, FINDINGS, rows, THREAD_STATE, bits)
            )
        return tuple(ir.Evaluate(call, span) for call in calls)

    def check_grid_barriers_at_exit(self, span: Span) -> ir.Call:
        """Return the call that compares the barriers of the grid at the end of a thread."""
        return device_call(
            "check_grid_barriers_at_exit", span, FINDINGS, row_of_grid(span), THREAD_STATE
        )

    def guard_lanes(self, e: ir.Apply, checked: ir.Apply) -> tuple[Guard, ir.Apply]:
        """Return what checks the lanes of an operation, after all have arrived, and the operation.

        None may have gone past it, and a shuffle reads from one that takes part.
        """
        if not has_mask(e):
            return Guard(), checked
        mask, span = checked.arguments[0], e.span
        bit = self.skips.of_operation(e) & self.skips.skipped
        is_shuffle = e.intrinsic.name in warp_lanes.SHUFFLES and id(e) not in self.uses.guarded
        is_shuffle = is_shuffle and "sync" in self.context.groups
        present, conditions = mask, list[ir.Expr]()
        bindings: Bindings = ()
        if bit or self._compares_lanes or (is_shuffle and self.ends_early):
            present = self.context.variable("present", WEAK_INT, span)
            vote = (mask, ir.Const(True, WEAK_BOOL, span))
            bindings = ((present, ir.Apply(REGISTRY["cuda.ballot_sync"], vote, WEAK_INT, span)),)
        if self._compares_lanes:
            joined = self.context.variable("joined", WEAK_BOOL, span)
            bindings = (*bindings, (joined, lane_call("join_lane_clocks", span, mask)))
        if bit:
            absent = self.context.variable("absent", WEAK_INT, span)
            arguments = mask, present, shadow_number(bit, span)
            call = lane_call("skipping_lane", span, *arguments)
            bindings = (*bindings, (absent, replace(call, type=WEAK_INT)))
            failure = self.context.failure("warp-sync", span, "", {"mask": mask, "absent": absent})
            conditions.append(or_record(compare(LT, absent, integer(0, span)), failure))
        if is_shuffle and (not is_full_mask(present) or self.context.has_partial_warp):
            is_sum = id(e) in self.uses.sums
            of_source, is_present, checked = self._check_source(checked, present, is_sum)
            bindings = (*bindings, *of_source)
            conditions.append(is_present)
        condition = all_of(conditions) if conditions else None
        return Guard(bindings, condition, skips=False), checked

    def _check_source(
        self, e: ir.Apply, present: ir.Expr, is_sum: bool
    ) -> tuple[Bindings, ir.Expr, ir.Apply]:
        """Return bindings, a check of the lane that a shuffle reads from, and the shuffle."""
        context, span = self.context, e.span
        mask, value, operand, width = e.arguments
        of_value: Bindings = ()
        if isinstance(value.type, Scalar):
            value, of_value = context.bind(value, "value")
        operand, of_operand = context.bind(cast(operand, WEAK_INT), "operand")
        width, of_width = context.bind(cast(width, WEAK_INT), "width")
        source = context.variable("source", WEAK_INT, span)
        kind = integer(warp_lanes.SHUFFLES.index(e.intrinsic.name), span)
        of_sum = ir.Const(is_sum, WEAK_BOOL, span)
        arguments = present, kind, operand, width, of_sum
        call = device_call("absent_source", span, *arguments, result=WEAK_INT)
        failure = context.failure("warp-sync", span, "", {"mask": mask, "source": source})
        is_present = or_record(compare(LT, source, integer(0, span)), failure)
        bindings = (*of_value, *of_operand, *of_width, (source, call))
        return bindings, is_present, replace(e, arguments=(mask, value, operand, width))


def _only_reads(e: ir.Apply) -> bool:
    """Return whether an operation reads an element: ``cuda.atomic.add(flag, 0, 0)``."""
    name, value = e.intrinsic.name.rpartition(".")[2], e.arguments[-1]
    is_zero = isinstance(value, ir.Const) and value.value == 0
    return e.intrinsic.reads or (is_zero and name in ("add", "sub", "or_", "xor"))


def lane_call(name: str, span: Span, *arguments: ir.Expr) -> ir.Call:
    """Return a call of a function of the clocks of lanes."""
    return device_call(name, span, rows_of_block(LANES, span), THREAD_STATE, *arguments)
