"""Lower warp operations and barriers with results: contributions and per-thread results.

``RESULTS`` has one function for each intrinsic of ``ops/intrinsics/threads/warp.py`` and each
barrier with a result. The generated IR does not depend on how threads are executed. Lanes that have
returned do not contribute. CUDA leaves undefined what a shuffle reads from such a lane, or from a
lane outside the mask. Here it is the last value that this lane contributed there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pycu2c.base.dtypes import UINT32
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, WEAK_INT32, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import (
    binary,
    cast,
    const,
    integer,
    logical,
    negation,
    scalar_type,
    truth,
    wrapping_arithmetic,
)
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread, same_bits
from pycu2c.ops.intrinsics.threads.warp import LANE, LANEMASKS, warpsize
from pycu2c.ops.operators import ADD, AND, C_SHL, C_SHR, EQ, GE, GT, LT, NE, OR, SUB, XOR, Operator

WARP_SIZE = WARP
_LAST_LANE = WARP_SIZE - 1


def thread(span: Span) -> ir.Expr:
    return ir.Apply(block_thread, (), WEAK_INT, span)


def lane(span: Span) -> ir.Expr:
    return binary(AND, thread(span), integer(_LAST_LANE, span), span)


def warp(span: Span) -> ir.Expr:
    return binary(C_SHR, thread(span), integer(WARP_SIZE.bit_length() - 1, span), span)


def lower_warp_coordinates(e: ir.Expr) -> ir.Expr:
    """Lower ``cuda.laneid()`` and related intrinsics to ``block.thread() & 31`` etc."""
    if not isinstance(e, ir.Apply) or e.intrinsic not in (LANE, *LANEMASKS, warpsize):
        return e
    kind = scalar_type(e)
    if e.intrinsic is warpsize:
        return const(WARP_SIZE, e.span, kind)
    if e.intrinsic is LANE:
        return cast(lane(e.span), kind)
    factor, constant = LANEMASKS[e.intrinsic]
    bit = binary(C_SHL, integer(abs(factor), e.span), lane(e.span), e.span)
    if factor < 0:
        bit = binary(SUB, integer(constant, e.span), bit, e.span)
    elif constant:
        bit = binary(SUB, bit, integer(-constant, e.span), e.span)
    return cast(bit, kind)


@dataclass(slots=True)
class SyncLowering:
    """One synchronization while it is lowered.

    ``new_array`` makes contribution arrays, ``new_variable`` variables. ``after`` holds what each
    thread executes after the wait.
    """

    arguments: Sequence[ir.Expr]
    type: Scalar
    span: Span
    new_array: Callable[[str, ir.Granularity, Scalar], ir.Var]
    new_variable: Callable[[str, Scalar], ir.Var]
    contributions: list[ir.Contribution] = field(default_factory=list)
    after: list[ir.Stmt] = field(default_factory=list)

    def number(self, value: int) -> ir.Expr:
        return integer(value, self.span)

    def binary_op(self, op: Operator, left: ir.Expr, right: ir.Expr | int) -> ir.Expr:
        own_value = self.number(right) if isinstance(right, int) else right
        return binary(op, left, own_value, self.span)

    def contribute(self, name: str, per: ir.Granularity, value: ir.Expr) -> ir.Var:
        """Contribute ``value`` to the thread's own element, or to the sum of its warp or block."""
        element = Scalar(scalar_type(value).dtype)
        slots = self.new_array(name, per, element)
        self.contributions.append(ir.Contribution(slots, per, cast(value, element)))
        return slots

    def load(self, slots: ir.Var, index: ir.Expr) -> ir.Expr:
        return ir.Load(slots, (index,), self.span)

    def lane_mask_where(self, name: str, condition: ir.Expr | None) -> ir.Expr:
        """Return the mask of the lanes for which a condition holds; by default all active lanes.

        Each lane contributes one bit.
        """
        bits, own = Scalar(UINT32), cast(lane(self.span), Scalar(UINT32))
        bit = binary(C_SHL, const(1, self.span, bits), own, self.span)
        if condition is not None:
            bit = ir.Select(truth(condition), bit, const(0, self.span, bits), bits, self.span)
        return cast(
            self.load(self.contribute(name, ir.Granularity.WARP, bit), warp(self.span)), WEAK_INT
        )

    def count_threads_where(self, name: str, condition: ir.Expr) -> ir.Expr:
        """Return the number of the block's threads for which a condition holds."""
        one = cast(truth(condition), WEAK_INT)
        return cast(
            self.load(self.contribute(name, ir.Granularity.BLOCK, one), self.number(0)), WEAK_INT
        )

    def in_mask(self, bits: ir.Expr) -> ir.Expr:
        return self.binary_op(AND, bits, self.arguments[0])

    def assign(self, var: ir.Var, value: ir.Expr) -> None:
        self.after.append(ir.Assign(var, value, self.span))


Result = Callable[[SyncLowering], ir.Expr]


# ---- barriers with a result --------------------------------------------------------------------


def _count(sync: SyncLowering) -> ir.Expr:
    return sync.count_threads_where("count", sync.arguments[0])


def _all_of_block(sync: SyncLowering) -> ir.Expr:
    fails = sync.count_threads_where("fails", negation(truth(sync.arguments[0])))
    return cast(sync.binary_op(EQ, fails, 0), WEAK_INT)


def _any_of_block(sync: SyncLowering) -> ir.Expr:
    return cast(
        sync.binary_op(NE, sync.count_threads_where("holds", sync.arguments[0]), 0), WEAK_INT
    )


# ---- shuffles ----------------------------------------------------------------------------------
# Loads of neighbours and a 32-bit selection: C compilers vectorize these, whereas a selected
# index becomes a gather.


def _to_int32(e: ir.Expr) -> ir.Expr:
    return cast(e, WEAK_INT32)


def _shuffle(
    sync: SyncLowering, source: ir.Expr, is_in_range: ir.Expr, otherwise: ir.Expr | None = None
) -> ir.Expr:
    """Return the value that ``source`` contributes if it is in range, else that of ``otherwise``.

    The default of ``otherwise`` is the thread itself.
    """
    sent = sync.contribute("sent", ir.Granularity.THREAD, sync.arguments[1])
    sent_value = sync.load(sent, source)
    if isinstance(is_in_range, ir.Const) and is_in_range.value:
        return sent_value
    own_value = sync.load(sent, otherwise or thread(sync.span))
    return ir.Select(is_in_range, sent_value, own_value, scalar_type(sent_value), sync.span)


def _sublane(sync: SyncLowering) -> ir.Expr:
    """Return the thread's index in its segment of ``width`` lanes, a power of 2."""
    last = sync.binary_op(SUB, sync.arguments[3], 1)
    return sync.binary_op(AND, _to_int32(thread(sync.span)), _to_int32(last))


def _distance(sync: SyncLowering) -> ir.Expr:
    return sync.binary_op(AND, sync.arguments[2], _LAST_LANE)


def _shuffle_indexed(sync: SyncLowering) -> ir.Expr:
    width = sync.arguments[3]
    first = sync.binary_op(AND, thread(sync.span), sync.binary_op(SUB, sync.number(0), width))
    place = sync.binary_op(AND, sync.arguments[2], sync.binary_op(SUB, width, 1))
    return _shuffle(sync, sync.binary_op(OR, first, place), const(True, sync.span))


def _shuffle_up(sync: SyncLowering) -> ir.Expr:
    distance = _distance(sync)
    is_in_range = sync.binary_op(GE, _sublane(sync), _to_int32(distance))
    return _shuffle(sync, sync.binary_op(SUB, thread(sync.span), distance), is_in_range)


def _shuffle_down(sync: SyncLowering) -> ir.Expr:
    distance = _distance(sync)
    end = sync.binary_op(ADD, _sublane(sync), _to_int32(distance))
    is_in_range = sync.binary_op(LT, end, _to_int32(sync.arguments[3]))
    return _shuffle(sync, sync.binary_op(ADD, thread(sync.span), distance), is_in_range)


def _shuffle_xor(sync: SyncLowering) -> ir.Expr:
    own, distance, width = thread(sync.span), _distance(sync), sync.arguments[3]
    full_warp = isinstance(width, ir.Const) and width.value == WARP_SIZE
    if full_warp and isinstance(distance, ir.Const) and int(distance.value).bit_count() == 1:
        above = sync.binary_op(AND, _to_int32(own), _to_int32(distance))
        is_above = binary(NE, above, _to_int32(sync.number(0)), sync.span)
        lower, upper = sync.binary_op(SUB, own, distance), sync.binary_op(ADD, own, distance)
        return _shuffle(sync, lower, is_above, upper)
    own_value = sync.binary_op(XOR, own, distance)
    end = sync.binary_op(OR, own, sync.binary_op(SUB, width, 1))
    return _shuffle(
        sync, own_value, const(True, sync.span) if full_warp else sync.binary_op(GE, end, own_value)
    )


# ---- votes -------------------------------------------------------------------------------------


def _ballot(sync: SyncLowering) -> ir.Expr:
    return sync.in_mask(sync.lane_mask_where("holds", sync.arguments[1]))


def _vote_any(sync: SyncLowering) -> ir.Expr:
    return sync.binary_op(NE, _ballot(sync), 0)


def _vote_all(sync: SyncLowering) -> ir.Expr:
    fails = sync.lane_mask_where("fails", negation(truth(sync.arguments[1])))
    return sync.binary_op(EQ, sync.in_mask(fails), 0)


def _vote_equal(sync: SyncLowering) -> ir.Expr:
    none_active = negation(_vote_any(sync))
    return logical(ir.LogicalOp.OR, _vote_all(sync), none_active, sync.span)


def _active_mask(sync: SyncLowering) -> ir.Expr:
    return sync.lane_mask_where("here", None)


# ---- matches and reductions --------------------------------------------------------------------


def _for_each_lane(
    sync: SyncLowering, participants: ir.Expr, statement_for: Callable[[ir.Expr], ir.Stmt]
) -> None:
    """Loop over the lanes of a mask; ``statement_for`` takes the value of each lane."""
    sent = sync.contribute("sent", ir.Granularity.THREAD, sync.arguments[1])
    counter = sync.new_variable("lane", WEAK_INT)
    first = sync.binary_op(AND, thread(sync.span), -WARP_SIZE)
    lane_value = sync.load(sent, sync.binary_op(OR, first, counter))
    bit = sync.binary_op(AND, sync.binary_op(C_SHR, participants, counter), 1)
    step = ir.If(sync.binary_op(NE, bit, 0), (statement_for(lane_value),), (), sync.span)
    bounds = (sync.number(0), sync.number(WARP_SIZE), sync.number(1))
    sync.after.append(ir.For(counter, *bounds, (step,), sync.span))


def _participants(sync: SyncLowering) -> ir.Var:
    participants = sync.new_variable("who", WEAK_INT)
    sync.assign(participants, sync.in_mask(sync.lane_mask_where("here", None)))
    return participants


def _matching(sync: SyncLowering, participants: ir.Expr) -> ir.Var:
    """Return the mask of the lanes that contribute the same value as the thread."""
    found = sync.new_variable("same", WEAK_INT)
    sync.assign(found, sync.number(0))
    strong = Scalar(scalar_type(sync.arguments[1]).dtype)
    own = sync.new_variable("own", strong)
    sync.assign(own, cast(sync.arguments[1], strong))

    def update(value: ir.Expr) -> ir.Stmt:
        assert isinstance(value, ir.Load)
        equal = ir.Apply(same_bits, (value, own), WEAK_BOOL, sync.span)
        bit = sync.binary_op(
            C_SHL, sync.number(1), sync.binary_op(AND, value.indices[0], _LAST_LANE)
        )
        new = ir.Select(equal, sync.binary_op(OR, found, bit), found, WEAK_INT, sync.span)
        return ir.Assign(found, new, sync.span)

    _for_each_lane(sync, participants, update)
    return found


def _match_any(sync: SyncLowering) -> ir.Expr:
    return _matching(sync, _participants(sync))


def _match_all(sync: SyncLowering) -> ir.Expr:
    participants = _participants(sync)
    same = _matching(sync, participants)
    equal = sync.binary_op(EQ, same, participants)
    return ir.Select(equal, participants, sync.number(0), WEAK_INT, sync.span)


def _reduction(
    start: int | None, op: Operator | None, comparison: Operator | None = None
) -> Result:
    """Return a lowering that combines values by an operator, or selects one by a comparison.

    It starts with ``start``, or with the thread's own value.
    """

    def result(sync: SyncLowering) -> ir.Expr:
        kind = Scalar(sync.type.dtype)
        total = sync.new_variable("total", kind)
        own = cast(sync.arguments[1], kind)
        sync.assign(total, own if start is None else const(start, sync.span, kind))

        def join(value: ir.Expr) -> ir.Stmt:
            if op is ADD:
                return ir.Assign(total, wrapping_arithmetic(op, total, value, sync.span), sync.span)
            if op is not None:
                return ir.Assign(total, sync.binary_op(op, total, value), sync.span)
            assert comparison is not None
            is_preferred = sync.binary_op(comparison, value, total)
            return ir.Assign(
                total, ir.Select(is_preferred, value, total, kind, sync.span), sync.span
            )

        _for_each_lane(sync, _participants(sync), join)
        return total

    return result


RESULTS: Mapping[str, Result] = {
    "cuda.syncthreads_count": _count,
    "cuda.syncthreads_and": _all_of_block,
    "cuda.syncthreads_or": _any_of_block,
    "cuda.shfl_sync": _shuffle_indexed,
    "cuda.shfl_up_sync": _shuffle_up,
    "cuda.shfl_down_sync": _shuffle_down,
    "cuda.shfl_xor_sync": _shuffle_xor,
    "cuda.ballot_sync": _ballot,
    "cuda.any_sync": _vote_any,
    "cuda.all_sync": _vote_all,
    "cuda.eq_sync": _vote_equal,
    "cuda.activemask": _active_mask,
    "cuda.match_any_sync": _match_any,
    "cuda.match_all_sync.lanes": _match_all,
    "cuda.reduce_add_sync": _reduction(0, ADD),
    "cuda.reduce_min_sync": _reduction(None, None, LT),
    "cuda.reduce_max_sync": _reduction(None, None, GT),
    "cuda.reduce_and_sync": _reduction(None, AND),
    "cuda.reduce_or_sync": _reduction(0, OR),
    "cuda.reduce_xor_sync": _reduction(0, XOR),
}
