"""What threads that meet give each other, and what each makes of it: one function for each row of
``ops/intrinsics/threads/warp.py`` and the barriers with results. Plain IR, the same however threads run.

Of a lane that has returned nothing is counted. What a shuffle takes from such a lane, or from one
that the mask does not name, CUDA leaves open: here it is whatever that lane gave there last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pycu2c.base.dtypes import UINT32
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, WEAK_INT32, Scalar
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
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Const,
    Contribution,
    Expr,
    For,
    Granularity,
    If,
    Load,
    LogicalOp,
    Select,
    Stmt,
    Var,
)
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread, same_bits
from pycu2c.ops.intrinsics.threads.warp import LANE, LANEMASKS, warpsize
from pycu2c.ops.operators import ADD, AND, C_SHL, C_SHR, EQ, GE, GT, LT, NE, OR, SUB, XOR, Operator

LANES = WARP
_LAST = LANES - 1


def thread(span: Span) -> Expr:
    return Apply(block_thread, (), WEAK_INT, span)


def lane(span: Span) -> Expr:
    return binary(AND, thread(span), integer(_LAST, span), span)


def warp(span: Span) -> Expr:
    return binary(C_SHR, thread(span), integer(LANES.bit_length() - 1, span), span)


def places(e: Expr) -> Expr:
    """``cuda.laneid()`` -> ``block.thread() & 31``, and its like."""
    if not isinstance(e, Apply) or e.intrinsic not in (LANE, *LANEMASKS, warpsize):
        return e
    kind = scalar_type(e)
    if e.intrinsic is warpsize:
        return const(LANES, e.span, kind)
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
class Met:
    """One meeting in the making. ``array`` makes the elements for what is given, ``fresh`` a
    variable; ``after`` is what each thread does when it has met the others."""

    arguments: Sequence[Expr]
    type: Scalar
    span: Span
    array: Callable[[str, Granularity, Scalar], Var]
    fresh: Callable[[str, Scalar], Var]
    contributions: list[Contribution] = field(default_factory=list)
    after: list[Stmt] = field(default_factory=list)

    def number(self, value: int) -> Expr:
        return integer(value, self.span)

    def make(self, op: Operator, left: Expr, right: Expr | int) -> Expr:
        other = self.number(right) if isinstance(right, int) else right
        return binary(op, left, other, self.span)

    def give(self, name: str, per: Granularity, value: Expr) -> Var:
        """``value`` in the thread's own element, or added to that of its warp or block."""
        element = Scalar(scalar_type(value).dtype)
        slots = self.array(name, per, element)
        self.contributions.append(Contribution(slots, per, cast(value, element)))
        return slots

    def taken(self, slots: Var, index: Expr) -> Expr:
        return Load(slots, (index,), self.span)

    def lanes_where(self, name: str, holds: Expr | None) -> Expr:
        """The mask of the lanes of the warp for which it holds, of all that have come if it is
        left out. Each adds a bit of its own."""
        bits, own = Scalar(UINT32), cast(lane(self.span), Scalar(UINT32))
        bit = binary(C_SHL, const(1, self.span, bits), own, self.span)
        if holds is not None:
            bit = Select(truth(holds), bit, const(0, self.span, bits), bits, self.span)
        return cast(self.taken(self.give(name, Granularity.WARP, bit), warp(self.span)), WEAK_INT)

    def count_where(self, name: str, holds: Expr) -> Expr:
        """For how many threads of the block it holds."""
        one = cast(truth(holds), WEAK_INT)
        return cast(self.taken(self.give(name, Granularity.BLOCK, one), self.number(0)), WEAK_INT)

    def in_mask(self, bits: Expr) -> Expr:
        return self.make(AND, bits, self.arguments[0])

    def set(self, var: Var, value: Expr) -> None:
        self.after.append(Assign(var, value, self.span))


Result = Callable[[Met], Expr]


# ---- barriers with a result --------------------------------------------------------------------


def _count(met: Met) -> Expr:
    return met.count_where("count", met.arguments[0])


def _all_of_block(met: Met) -> Expr:
    fails = met.count_where("fails", negation(truth(met.arguments[0])))
    return cast(met.make(EQ, fails, 0), WEAK_INT)


def _any_of_block(met: Met) -> Expr:
    return cast(met.make(NE, met.count_where("holds", met.arguments[0]), 0), WEAK_INT)


# ---- shuffles ----------------------------------------------------------------------------------
# Loads of neighbours and a choice between them, in 32 bits: C compilers vectorise that, where an
# index that is chosen becomes a gather.


def _small(e: Expr) -> Expr:
    return cast(e, WEAK_INT32)


def _sent(met: Met, source: Expr, is_there: Expr, otherwise: Expr | None = None) -> Expr:
    """What the thread ``source`` gives, or else another one, the thread itself if not said."""
    sent = met.give("sent", Granularity.THREAD, met.arguments[1])
    given = met.taken(sent, source)
    if isinstance(is_there, Const) and is_there.value:
        return given
    other = met.taken(sent, otherwise or thread(met.span))
    return Select(is_there, given, other, scalar_type(given), met.span)


def _place(met: Met) -> Expr:
    """The thread's place in its part of ``width`` lanes: these are powers of 2."""
    last = met.make(SUB, met.arguments[3], 1)
    return met.make(AND, _small(thread(met.span)), _small(last))


def _distance(met: Met) -> Expr:
    return met.make(AND, met.arguments[2], _LAST)


def _indexed(met: Met) -> Expr:
    width = met.arguments[3]
    first = met.make(AND, thread(met.span), met.make(SUB, met.number(0), width))
    place = met.make(AND, met.arguments[2], met.make(SUB, width, 1))
    return _sent(met, met.make(OR, first, place), const(True, met.span))


def _up(met: Met) -> Expr:
    distance = _distance(met)
    is_there = met.make(GE, _place(met), _small(distance))
    return _sent(met, met.make(SUB, thread(met.span), distance), is_there)


def _down(met: Met) -> Expr:
    distance = _distance(met)
    end = met.make(ADD, _place(met), _small(distance))
    is_there = met.make(LT, end, _small(met.arguments[3]))
    return _sent(met, met.make(ADD, thread(met.span), distance), is_there)


def _crossed(met: Met) -> Expr:
    own, distance, width = thread(met.span), _distance(met), met.arguments[3]
    whole = isinstance(width, Const) and width.value == LANES
    if whole and isinstance(distance, Const) and int(distance.value).bit_count() == 1:
        above = met.make(AND, _small(own), _small(distance))
        is_above = binary(NE, above, _small(met.number(0)), met.span)
        lower, upper = met.make(SUB, own, distance), met.make(ADD, own, distance)
        return _sent(met, lower, is_above, upper)
    other = met.make(XOR, own, distance)
    end = met.make(OR, own, met.make(SUB, width, 1))
    return _sent(met, other, const(True, met.span) if whole else met.make(GE, end, other))


# ---- votes -------------------------------------------------------------------------------------


def _ballot(met: Met) -> Expr:
    return met.in_mask(met.lanes_where("holds", met.arguments[1]))


def _any(met: Met) -> Expr:
    return met.make(NE, _ballot(met), 0)


def _all(met: Met) -> Expr:
    fails = met.lanes_where("fails", negation(truth(met.arguments[1])))
    return met.make(EQ, met.in_mask(fails), 0)


def _equal(met: Met) -> Expr:
    nobody = negation(_any(met))
    return logical(LogicalOp.OR, _all(met), nobody, met.span)


def _active(met: Met) -> Expr:
    return met.lanes_where("here", None)


# ---- matches and reductions --------------------------------------------------------------------


def _for_lanes(met: Met, who: Expr, do: Callable[[Expr], Stmt]) -> None:
    """Go through the lanes of a mask; ``do`` takes the value that each gives."""
    sent = met.give("sent", Granularity.THREAD, met.arguments[1])
    counter = met.fresh("lane", WEAK_INT)
    first = met.make(AND, thread(met.span), -LANES)
    there = met.taken(sent, met.make(OR, first, counter))
    bit = met.make(AND, met.make(C_SHR, who, counter), 1)
    step = If(met.make(NE, bit, 0), (do(there),), (), met.span)
    bounds = (met.number(0), met.number(LANES), met.number(1))
    met.after.append(For(counter, *bounds, (step,), met.span))


def _who(met: Met) -> Var:
    who = met.fresh("who", WEAK_INT)
    met.set(who, met.in_mask(met.lanes_where("here", None)))
    return who


def _matching(met: Met, who: Expr) -> Var:
    """The mask of the lanes that give what the thread does."""
    found = met.fresh("same", WEAK_INT)
    met.set(found, met.number(0))
    strong = Scalar(scalar_type(met.arguments[1]).dtype)
    own = met.fresh("own", strong)
    met.set(own, cast(met.arguments[1], strong))

    def note(value: Expr) -> Stmt:
        assert isinstance(value, Load)
        alike = Apply(same_bits, (value, own), WEAK_BOOL, met.span)
        bit = met.make(C_SHL, met.number(1), met.make(AND, value.indices[0], _LAST))
        new = Select(alike, met.make(OR, found, bit), found, WEAK_INT, met.span)
        return Assign(found, new, met.span)

    _for_lanes(met, who, note)
    return found


def _match_any(met: Met) -> Expr:
    return _matching(met, _who(met))


def _match_all(met: Met) -> Expr:
    who = _who(met)
    same = _matching(met, who)
    alike = met.make(EQ, same, who)
    return Select(alike, who, met.number(0), WEAK_INT, met.span)


def _reduction(start: int | None, op: Operator | None, better: Operator | None = None) -> Result:
    """From ``start``, or from the own value, joined by an operator or chosen by a comparison."""

    def result(met: Met) -> Expr:
        kind = Scalar(met.type.dtype)
        total = met.fresh("total", kind)
        own = cast(met.arguments[1], kind)
        met.set(total, own if start is None else const(start, met.span, kind))

        def join(value: Expr) -> Stmt:
            if op is ADD:
                return Assign(total, wrapping_arithmetic(op, total, value, met.span), met.span)
            if op is not None:
                return Assign(total, met.make(op, total, value), met.span)
            assert better is not None
            is_better = met.make(better, value, total)
            return Assign(total, Select(is_better, value, total, kind, met.span), met.span)

        _for_lanes(met, _who(met), join)
        return total

    return result


RESULTS: Mapping[str, Result] = {
    "cuda.syncthreads_count": _count,
    "cuda.syncthreads_and": _all_of_block,
    "cuda.syncthreads_or": _any_of_block,
    "cuda.shfl_sync": _indexed,
    "cuda.shfl_up_sync": _up,
    "cuda.shfl_down_sync": _down,
    "cuda.shfl_xor_sync": _crossed,
    "cuda.ballot_sync": _ballot,
    "cuda.any_sync": _any,
    "cuda.all_sync": _all,
    "cuda.eq_sync": _equal,
    "cuda.activemask": _active,
    "cuda.match_any_sync": _match_any,
    "cuda.match_all_sync.lanes": _match_all,
    "cuda.reduce_add_sync": _reduction(0, ADD),
    "cuda.reduce_min_sync": _reduction(None, None, LT),
    "cuda.reduce_max_sync": _reduction(None, None, GT),
    "cuda.reduce_and_sync": _reduction(None, AND),
    "cuda.reduce_or_sync": _reduction(0, OR),
    "cuda.reduce_xor_sync": _reduction(0, XOR),
}
