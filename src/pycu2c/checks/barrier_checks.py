"""Check for barrier divergence: all threads of a block reach the same barriers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, uint64
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS, BarrierBits
from pycu2c.checks.context import CheckContext, Guard, compare, or_record
from pycu2c.checks.device_functions.barrier_divergence import MAX_BARRIERS
from pycu2c.checks.device_functions.shadow_words import MAX_SITE
from pycu2c.checks.hidden_arrays import (
    FINDINGS,
    THREAD_STATE,
    barrier_rows,
    device_call,
    grid_barrier_row,
    lane_call,
    unsigned,
)
from pycu2c.checks.proofs.convergence import has_mask
from pycu2c.ir import nodes as ir
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import EQ

_ALL_BITS = (1 << MAX_BARRIERS) - 1


@dataclass(frozen=True, slots=True)
class BarrierChecks:
    """The checks of one function.

    skips: where threads may skip barriers and warp operations. compares_barriers: whether barriers
    are checked, not only warp operations.
    """

    context: CheckContext
    skips: BarrierBits
    compares_barriers: bool

    def guard(self, e: ir.Apply) -> Guard:
        """Return the guard of a barrier that compares it with those of other threads."""
        if not self.compares_barriers or e.intrinsic.effect not in BARRIER_EFFECTS:
            return Guard()
        context, span = self.context, e.span
        other = context.variable("other", uint64, span)
        failure = context.failure("divergent-barrier", span, "", {"other": other})
        site, bit = self._last_site(span), unsigned(self.skips.of_operation(e), span)
        arguments = barrier_rows(span), site, bit, THREAD_STATE
        bindings = [(other, device_call("arrive_at_barrier", span, *arguments, result=uint64))]
        if e.intrinsic.effect is Effect.GRID:
            call = device_call("arrive_at_grid_barrier", span, THREAD_STATE, site)
            bindings.insert(0, (context.variable("counted", WEAK_BOOL, span), call))
        is_same = compare(EQ, other, unsigned(0, span))
        return Guard(tuple(bindings), or_record(is_same, failure), predicated=False)

    def _last_site(self, span: Span) -> ir.Const:
        return unsigned(min(len(self.context.sites), MAX_SITE), span)

    # ---- what records skips ----

    def around(self, s: ir.Stmt) -> tuple[ir.Body, tuple[ir.Body, ir.Body], ir.Body]:
        """Return what records skips before a statement, at the ends of its bodies, and after it."""
        skips, span = self.skips.at(s), s.span
        before = _evaluate(self._skip(skips.before, span))
        if skips.outer is not None:
            before = self.at_exit(skips.outer, span)
        then, orelse = self._skip(skips.then, span), self._skip(skips.orelse, span)
        after = self._skip(skips.after, span, "skip_by_loop_exit")
        return before, (_evaluate(then), _evaluate(orelse)), _evaluate(after)

    def _skip(self, bits: int, span: Span, name: str = "skip_barriers") -> Sequence[ir.Call]:
        return [device_call(name, span, THREAD_STATE, unsigned(bits, span))] if bits else []

    def skip_operand(self, e: ir.Expr) -> Sequence[ir.Call]:
        """Return what records that the thread skips the barriers of an expression."""
        return self._skip(self.skips.of_operand(e), e.span)

    def confirm_skips(self, span: Span) -> Guard:
        """Return what records that the thread has an effect, if it may have skipped a barrier."""
        if not self.skips.skipped:
            return Guard()
        if self.compares_barriers:
            self.context.failure("divergent-barrier", span, "", {}, "continues")
        call = device_call("confirm_skips", span, THREAD_STATE, self._last_site(span))
        return Guard((), call, predicated=False)

    def after(self, e: ir.Apply) -> Iterator[ir.Expr]:
        """Yield what records that the thread has not skipped an operation of the warp."""
        if has_mask(e) and self.skips.skipped & self.skips.of_warp:
            bits = unsigned(self.skips.of_warp, e.span)
            yield device_call("clear_skips", e.span, THREAD_STATE, bits)

    def at_exit(self, outer: int, span: Span) -> ir.Body:
        """Return what compares the barriers that a thread has skipped, when it exits.

        outer: the bits of the barriers outside of the loops that the thread leaves.
        """
        calls: list[ir.Call] = []
        skipped, of_warp = self.skips.skipped, self.skips.of_warp
        if skipped & of_warp:
            calls.append(lane_call("store_skips", span, unsigned(outer & of_warp, span)))
        if self.compares_barriers and skipped & ~of_warp:
            bits = unsigned(outer & _ALL_BITS & ~of_warp, span)
            arguments = FINDINGS, barrier_rows(span), THREAD_STATE, bits
            calls.append(device_call("check_skips_at_exit", span, *arguments))
        return _evaluate(calls)


def _evaluate(calls: Iterable[ir.Call]) -> ir.Body:
    return tuple(ir.Evaluate(call, call.span) for call in calls)


def check_grid_barriers(span: Span) -> ir.Call:
    """Return the call that compares the barriers of the grid when a thread exits."""
    arguments = FINDINGS, grid_barrier_row(span), THREAD_STATE
    return device_call("check_grid_barriers_at_exit", span, *arguments)
