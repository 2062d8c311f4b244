"""Check that the threads of a block meet at one barrier, and that masks name the calling lane."""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, uint64
from pycu2c.checks import shadow_memory
from pycu2c.checks.context import CheckContext, Guard, compare, or_record
from pycu2c.checks.races import CLOCK, shadow_number
from pycu2c.checks.shadow_arrays import Shadow
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, integer
from pycu2c.ops.intrinsics.registry import REGISTRY, Effect
from pycu2c.ops.operators import AND, EQ, NE, SHR

_FULL_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class SynchronizationChecks:
    """The checks of one function.

    barriers: the shadow of the block's barrier. has_fences: whether atomic operations may order
    other accesses, with fences before or after them.
    """

    context: CheckContext
    barriers: Shadow | None
    has_clock: bool
    has_fences: bool

    def guard(self, e: ir.Apply, checked: ir.Apply) -> tuple[Guard, ir.Apply]:
        """Return what checks an operation that synchronizes, and the operation."""
        if "sync" not in self.context.groups:
            return Guard(), checked
        if e.intrinsic.effect is Effect.BARRIER and self.barriers is not None:
            return self._guard_barrier(e, self.barriers), checked
        if e.intrinsic.effect is Effect.WARP and e.arguments:
            return self._guard_mask(e, checked)
        return Guard(), checked

    def after(self, e: ir.Apply) -> ir.Expr | None:
        """Return the call that counts an operation that orders accesses, if it does."""
        if not self.has_clock or e.intrinsic.name == "cuda.activemask":
            return None
        effect, name = e.intrinsic.effect, e.intrinsic.name
        if effect in (Effect.BARRIER, Effect.CLUSTER, Effect.GRID):
            return ir.Call("pass_barrier.check", (CLOCK,), WEAK_BOOL, e.span)
        is_flag = "fence" in name or "atomic" in name or effect is Effect.WARP
        if self.has_fences and is_flag:
            return ir.Call("pass_fence.check", (CLOCK,), WEAK_BOOL, e.span)
        if effect is not Effect.WARP:
            return None
        is_of_warp = shadow_number(_is_full_mask(e.arguments[0]), e.span)
        return ir.Call("pass_warp_operation.check", (CLOCK, is_of_warp), WEAK_BOOL, e.span)

    def _guard_barrier(self, e: ir.Apply, barriers: Shadow) -> Guard:
        context = self.context
        other = context.variable("other", uint64, e.span)
        failure = context.failure("divergent-barrier", e.span, "", {"other": other})
        site = shadow_number(min(len(context.table.sites), shadow_memory.MAX_SITE), e.span)
        words = barriers.words((), is_linear=False, span=e.span)
        call = ir.Call("shadow_barrier.check", (words, site, CLOCK), uint64, e.span)
        is_same = compare(EQ, other, shadow_number(0, e.span))
        return Guard(((other, call),), or_record(is_same, failure), skips=False)

    def _guard_mask(self, e: ir.Apply, checked: ir.Apply) -> tuple[Guard, ir.Apply]:
        context, mask = self.context, checked.arguments[0]
        if _is_full_mask(mask):
            return Guard(), checked
        mask, binding = context.bind(cast(mask, WEAK_INT), "mask")
        lane: ir.Expr = ir.Apply(REGISTRY["cuda.laneid"], (), WEAK_INT, e.span)
        failure = context.failure("warp-sync", e.span, "", {"mask": mask, "lane": lane})
        guard = Guard(binding, or_record(_names_lane(mask, lane), failure), skips=False)
        return guard, ir.Apply(e.intrinsic, (mask, *checked.arguments[1:]), e.type, e.span)


def _is_full_mask(mask: ir.Expr) -> bool:
    return isinstance(mask, ir.Const) and int(mask.value) & _FULL_MASK == _FULL_MASK


def _names_lane(mask: ir.Expr, lane: ir.Expr) -> ir.Expr:
    bit = binary(AND, binary(SHR, mask, lane, lane.span), integer(1, lane.span), lane.span)
    return compare(NE, bit, integer(0, lane.span))
