"""Check the masks of warp operations, and the lanes that shuffles read from."""

from __future__ import annotations

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.checks.barrier_skips import BarrierBits
from pycu2c.checks.context import Bindings, CheckContext, Guard, all_of, compare, or_record
from pycu2c.checks.device_functions.warp_lanes import SHUFFLES
from pycu2c.checks.hidden_arrays import device_call, lane_call, unsigned
from pycu2c.checks.proofs.convergence import has_mask, is_full_mask
from pycu2c.checks.shuffle_uses import ShuffleUses
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, integer
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import LT


@dataclass(frozen=True, slots=True)
class WarpChecks:
    """The checks of one function.

    skips: where threads may skip warp operations. uses: the shuffles whose undefined values a right
    kernel does not use. compares_lanes: whether lanes have clocks. ends_early: whether threads may
    end before others.
    """

    context: CheckContext
    skips: BarrierBits
    uses: ShuffleUses
    compares_lanes: bool
    ends_early: bool

    def guard_mask(self, e: ir.Apply, checked: ir.Apply) -> tuple[Guard, ir.Apply]:
        """Return the guard of an operation whose mask may lack the thread, and the operation."""
        is_checked = "sync" in self.context.groups
        if not has_mask(e) or not (is_checked or self.compares_lanes):
            return Guard(), checked
        mask, bindings = self.context.bind(cast(checked.arguments[0], WEAK_INT), "mask")
        checked = replace(checked, arguments=(mask, *checked.arguments[1:]))
        if not is_checked or is_full_mask(mask):
            return Guard(bindings), checked
        lane = ir.Apply(REGISTRY["cuda.laneid"], (), WEAK_INT, e.span)
        failure = self.context.failure("warp-sync", e.span, "", {"mask": mask, "lane": lane})
        is_in_mask = device_call("is_in_mask", e.span, mask)
        return Guard(bindings, or_record(is_in_mask, failure), predicated=False), checked

    def guard_lanes(self, e: ir.Apply, checked: ir.Apply) -> tuple[Guard, ir.Apply]:
        """Return the guard of an operation after its lanes have arrived, and the operation.

        No lane of the mask may have skipped it, and a shuffle reads from one that takes part.
        """
        if not has_mask(e):
            return Guard(), checked
        context, mask, span = self.context, checked.arguments[0], e.span
        bit = self.skips.of_operation(e) & self.skips.skipped
        is_shuffle = e.intrinsic.name in SHUFFLES and id(e) not in self.uses.guarded
        is_shuffle = is_shuffle and "sync" in context.groups
        present = mask
        bindings: list[tuple[ir.Var, ir.Expr]] = []
        conditions: list[ir.Expr] = []
        if bit or self.compares_lanes or (is_shuffle and self.ends_early):
            present = context.variable("present", WEAK_INT, span)
            vote = mask, ir.Const(True, WEAK_BOOL, span)
            bindings.append((present, ir.Apply(REGISTRY["cuda.ballot_sync"], vote, WEAK_INT, span)))
        if self.compares_lanes:
            joined = context.variable("joined", WEAK_BOOL, span)
            bindings.append((joined, lane_call("join_lane_clocks", span, mask)))
        if bit:
            absent = context.variable("absent", WEAK_INT, span)
            call = lane_call("skipping_lane", span, mask, present, unsigned(bit, span))
            bindings.append((absent, replace(call, type=WEAK_INT)))
            failure = context.failure("warp-sync", span, "", {"mask": mask, "absent": absent})
            conditions.append(or_record(compare(LT, absent, integer(0, span)), failure))
        if is_shuffle and (not is_full_mask(present) or context.has_partial_warp):
            is_sum = id(e) in self.uses.sums
            of_source, is_present, checked = self._check_source(checked, present, is_sum)
            bindings += of_source
            conditions.append(is_present)
        condition = all_of(conditions) if conditions else None
        return Guard(tuple(bindings), condition, predicated=False), checked

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
        kind = integer(SHUFFLES.index(e.intrinsic.name), span)
        of_sum = ir.Const(is_sum, WEAK_BOOL, span)
        arguments = present, kind, operand, width, of_sum
        call = device_call("absent_source", span, *arguments, result=WEAK_INT)
        failure = context.failure("warp-sync", span, "", {"mask": mask, "source": source})
        is_present = or_record(compare(LT, source, integer(0, span)), failure)
        bindings = (*of_value, *of_operand, *of_width, (source, call))
        return bindings, is_present, replace(e, arguments=(mask, value, operand, width))
