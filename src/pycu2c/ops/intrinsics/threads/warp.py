"""Warp operations: shuffles, votes, matches, reductions.

Each declaration has the CUDA spelling, the result on the CPU (``collective``), and the
body for the reference interpreter. The body runs after the lanes have synchronized;
``REFERENCE_STATE.current().exchanged`` has the arguments of each lane. Lanes of the mask that have
returned are not waited for, and contribute nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from pycu2c.base.dtypes import INT32, INT64, UINT32, UINT64, DType
from pycu2c.base.values import convert, scalar_of
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import Collective, T, Value, form
from pycu2c.ops.intrinsics.reference_thread import EXCHANGE_DTYPES, REFERENCE_STATE, WARP
from pycu2c.ops.intrinsics.registry import CollectiveResult, Effect, Intrinsic, Spelling, intrinsic
from pycu2c.ops.intrinsics.spelling import helper, overloaded

ALL_LANES = 0xFFFFFFFF
_MASK_BOUNDS = (0, ALL_LANES)  # the bounds of a mask as a result


def _with_mask(spell: Spelling) -> Spelling:
    """Return ``spell`` with a literal mask in hexadecimal."""

    def spelled(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        mask = a["mask"]
        if isinstance(mask, c.Number):
            bits = int(mask.text.rstrip("ULul")) & ALL_LANES
            a = {**a, "mask": c.Number(f"{bits:#010x}")}
        return spell(a, dtype)

    return spelled


def _values() -> list[Any]:
    """Return the second argument of each lane: its value or predicate."""
    return [arguments[1] for arguments in REFERENCE_STATE.current().exchanged.values()]


# ---- lane indices and masks --------------------------------------------------------------------


def _declare_lane_value(
    name: str,
    doc: str,
    read: Callable[[int], int],
    bounds: tuple[int, int],
    collective: CollectiveResult,
) -> Intrinsic:
    def body() -> int:
        return read(REFERENCE_STATE.current().lane)

    body.__doc__ = doc
    return intrinsic(
        f"cuda.{name}",
        cuda=lambda _, dtype: c.CallExpr(f"{name}_{dtype.short}", ()),
        collective=collective,
        is_special_register=name == "laneid",
        is_divergent=True,
        bounds=(min(bounds), max(bounds)),
    )(body)


LANE = _declare_lane_value(
    "laneid",
    "Return the lane of the thread in its warp, 0 to 31.",
    int,
    (0, WARP - 1),
    collective=lambda call: call.lane,
)
# each is factor * (1 << lane) + constant
_LANEMASKS = (
    ("lanemask_lt", 1, -1, "below the thread's own"),
    ("lanemask_le", 2, -1, "up to the thread's own"),
    ("lanemask_eq", 1, 0, "equal to the thread's own"),
    ("lanemask_ge", -1, 1 << WARP, "from the thread's own on"),
    ("lanemask_gt", -2, 1 << WARP, "above the thread's own"),
)


def _lanemask(name: str, factor: int, constant: int, which: str) -> Intrinsic:
    def read(lane: int) -> int:
        return factor * (1 << lane) + constant

    def collective(call: Collective) -> Value:
        bit = abs(factor) << call.lane
        if factor < 0:
            return constant - bit
        return bit - -constant if constant else bit

    bounds = read(0), read(WARP - 1)
    return _declare_lane_value(
        name, f"Return the mask of the lanes {which}.", read, bounds, collective
    )


LANEMASK_LT, *_ = (_lanemask(*entry) for entry in _LANEMASKS)


@intrinsic(
    "cuda.warpsize",
    collective=lambda call: call.thread.literal(WARP),
    is_special_register=True,
    bounds=(WARP, WARP),
)
def warpsize() -> int:
    """Return the number of threads of a warp: 32."""
    return WARP


# ---- synchronization ---------------------------------------------------------------------------


def _syncwarp(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
    whole = a["mask"] == c.Number(f"{ALL_LANES:#010x}")
    return c.CallExpr("__syncwarp", () if whole else (a["mask"],))


@intrinsic("cuda.syncwarp", effect=Effect.WARP, cuda=_with_mask(_syncwarp))
def syncwarp(mask: int = ALL_LANES) -> None:
    """Wait until the lanes of ``mask`` have reached a ``syncwarp``.

    Their earlier writes are then visible to all of them.
    """


@intrinsic(
    "cuda.activemask",
    effect=Effect.WARP,
    cuda=overloaded("__activemask"),
    collective=lambda call: call.ballot("here"),
    bounds=_MASK_BOUNDS,
    c_result=UINT32,
)
def activemask() -> int:
    """Return the mask of the active lanes of the warp, which depends on the hardware."""
    return sum(1 << rank % WARP for rank in REFERENCE_STATE.current().exchanged)


# ---- shuffles ----------------------------------------------------------------------------------


def _with_width(function: str) -> Spelling:
    """Return the spelling of a shuffle; omit a width of 32, and cast results narrower than int."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        *others, width = a.values()
        whole = isinstance(width, c.Number) and width.text.rstrip("L") == str(WARP)
        call = c.CallExpr(function, (*others, *(() if whole else (width,))))
        return c.CastExpr(c.NamedType(dtype.cuda), call) if dtype.bits < 32 else call

    return spell


def _shuffle(collective: CollectiveResult) -> Callable[[Callable[..., Any]], Intrinsic]:
    def declare(body: Callable[..., Any]) -> Intrinsic:
        name = body.__name__
        last = list(body.__annotations__)[2]
        head = f"mask: SupportsIndex, value: _E, {last}: SupportsIndex, width: SupportsIndex = 32"
        return intrinsic(
            f"cuda.{name}",
            effect=Effect.WARP,
            dtypes=EXCHANGE_DTYPES,
            cuda=_with_mask(_with_width(f"__{name}")),
            collective=collective,
            overloads=(f"({head}) -> _E",),  # vectors, too
        )(body)

    return declare


def _value_of(lane: int, value: Any) -> Any:
    """Return the value of a lane; of an inactive lane, undefined in CUDA, the thread's value."""
    thread = REFERENCE_STATE.current()
    arguments = thread.exchanged.get(thread.rank - thread.lane + lane)
    return value if arguments is None else arguments[1]


def _segment(width: int) -> range:
    """Return the lanes of the segment of a thread."""
    first = REFERENCE_STATE.current().lane // width * width
    return range(first, first + width)


# lanes and distances count modulo 32, as in the hardware

# On the CPU, shuffles are loads of neighbours and a 32-bit selection, which C compilers vectorize;
# a selected index becomes a gather.


def _segment_rank(call: Collective) -> Value:
    """Return the thread's rank in its segment of ``width`` lanes, a power of 2."""
    return call.thread.as_int32() & (call["width"] - 1).as_int32()


def _shuffle_from_lane(call: Collective) -> Value:
    width = call["width"]
    first = call.thread & (0 - width)
    return call.shuffle(first | (call["src_lane"] & (width - 1)))


def _shuffle_from_below(call: Collective) -> Value:
    distance = call["delta"] & (WARP - 1)
    return call.shuffle(call.thread - distance, _segment_rank(call) >= distance.as_int32())


def _shuffle_from_above(call: Collective) -> Value:
    distance = call["delta"] & (WARP - 1)
    end = _segment_rank(call) + distance.as_int32()
    return call.shuffle(call.thread + distance, end < call["width"].as_int32())


def _shuffle_by_xor(call: Collective) -> Value:
    own, distance, width = call.thread, call["lane_mask"] & (WARP - 1), call["width"]
    is_full_warp = width.constant == WARP
    if is_full_warp and (distance.constant or 0).bit_count() == 1:
        is_above = (own.as_int32() & distance.as_int32()) != 0
        return call.shuffle(own - distance, is_above, own + distance)
    source = own ^ distance
    last = own | (width - 1)
    return call.shuffle(source, None if is_full_warp else last >= source)


@_shuffle(collective=_shuffle_from_lane)
def shfl_sync(mask: int, value: T, src_lane: int, width: int = WARP) -> T:
    """Return the value of lane ``src_lane``.

    Lanes count modulo ``width`` (2, 4, 8, 16 or 32) in the segment of the thread.
    """
    return _value_of(_segment(width)[src_lane % width], value)


@_shuffle(collective=_shuffle_from_below)
def shfl_up_sync(mask: int, value: T, delta: int, width: int = WARP) -> T:
    """Return the value of the lane ``delta`` below, or the thread's own beyond its segment."""
    lane = REFERENCE_STATE.current().lane - delta % WARP
    return _value_of(lane, value) if lane in _segment(width) else value


@_shuffle(collective=_shuffle_from_above)
def shfl_down_sync(mask: int, value: T, delta: int, width: int = WARP) -> T:
    """Return the value of the lane ``delta`` above, or the thread's own beyond its segment."""
    lane = REFERENCE_STATE.current().lane + delta % WARP
    return _value_of(lane, value) if lane in _segment(width) else value


@_shuffle(collective=_shuffle_by_xor)
def shfl_xor_sync(mask: int, value: T, lane_mask: int, width: int = WARP) -> T:
    """Return the value of lane ``laneid ^ lane_mask``, or the thread's own in a later segment."""
    lane = REFERENCE_STATE.current().lane ^ lane_mask % WARP
    return _value_of(lane, value) if lane < _segment(width).stop else value


# ---- votes -------------------------------------------------------------------------------------


def _vote(cuda: str, collective: CollectiveResult) -> Callable[[Callable[..., Any]], Intrinsic]:
    spell_call = _with_mask(overloaded(cuda))

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.BinaryExpr("!=", spell_call(a, dtype), c.Number("0"))

    def declare(body: Callable[..., Any]) -> Intrinsic:
        return intrinsic(
            f"cuda.{body.__name__}", effect=Effect.WARP, cuda=spell, collective=collective
        )(body)

    return declare


def _all_equal(call: Collective) -> Value:
    none_holds = (call.ballot("holds", call["predicate"]) != 0).logical_not()
    all_hold = call.ballot("fails", call["predicate"].logical_not()) == 0
    return all_hold.logical_or(none_holds)


@_vote(
    cuda="__all_sync",
    collective=lambda call: call.ballot("fails", call["predicate"].logical_not()) == 0,
)
def all_sync(mask: int, predicate: bool) -> bool:
    """Return whether ``predicate`` is true for all lanes of ``mask``."""
    return all(_values())


@_vote(cuda="__any_sync", collective=lambda call: call.ballot("holds", call["predicate"]) != 0)
def any_sync(mask: int, predicate: bool) -> bool:
    """Return whether ``predicate`` is true for any lane of ``mask``."""
    return any(_values())


@_vote(cuda="__uni_sync", collective=_all_equal)
def eq_sync(mask: int, predicate: bool) -> bool:
    """Return whether ``predicate`` is the same for all lanes of ``mask``."""
    return len(set(_values())) == 1


def _lanes_where(holds: Callable[[Any], bool]) -> int:
    """Return the mask of the lanes whose second argument satisfies ``holds``."""
    exchanged = REFERENCE_STATE.current().exchanged.items()
    return sum(1 << rank % WARP for rank, arguments in exchanged if holds(arguments[1]))


@intrinsic(
    "cuda.ballot_sync",
    effect=Effect.WARP,
    cuda=_with_mask(overloaded("__ballot_sync")),
    collective=lambda call: call.ballot("holds", call["predicate"]),
    bounds=_MASK_BOUNDS,
    c_result=UINT32,
)
def ballot_sync(mask: int, predicate: bool) -> int:
    """Return the mask of the lanes of ``mask`` for which ``predicate`` is true."""
    return _lanes_where(bool)


# ---- matches -----------------------------------------------------------------------------------


def _bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


@intrinsic(
    "cuda.match_any_sync",
    effect=Effect.WARP,
    dtypes=EXCHANGE_DTYPES,
    cuda=_with_mask(overloaded("__match_any_sync")),
    collective=lambda call: call.matching_lanes(),
    bounds=_MASK_BOUNDS,
    c_result=UINT32,
)
def match_any_sync(mask: int, value: T) -> int:
    """Return the lanes of ``mask`` with the same value, bit for bit.

    NaN equals NaN, and -0.0 differs from 0.0.
    """
    return _lanes_where(lambda other: _bits(other) == _bits(value))


def _match_all_lanes(call: Collective) -> Value:
    same, participants = call.matching_lanes(), call.participants
    return (same == participants).select(participants, participants.literal(0))


@intrinsic(
    "cuda.match_all_sync.lanes",
    effect=Effect.WARP,
    dtypes=EXCHANGE_DTYPES,
    cuda=_with_mask(helper("match_all")),
    collective=_match_all_lanes,
    bounds=_MASK_BOUNDS,
    c_result=UINT32,
)
def match_all_lanes(mask: int, value: T) -> int:
    """Return ``mask`` if all its lanes have the same value, else 0."""
    same = len(set(map(_bits, _values()))) == 1
    return _lanes_where(lambda _: True) if same else 0


@intrinsic(
    "cuda.match_all_sync",
    effect=Effect.WARP,
    dtypes=EXCHANGE_DTYPES,
    overloads=("(mask: SupportsIndex, value: _Number) -> tuple[int, bool]",),
)
def match_all_sync(mask: int, value: T) -> form:
    """Return ``(mask, True)`` if all lanes of ``mask`` have the same value, else ``(0, False)``."""
    lanes = match_all_lanes.reference(mask, value)
    return lanes, lanes != 0


# ---- reductions --------------------------------------------------------------------------------

REDUCED = (INT32, INT64, UINT32, UINT64)


def _reduction(
    name: str,
    doc: str,
    reference: Callable[[int, int], int],
    *,
    combine: Callable[[Value, Value], Value],
    start: int | None = None,
) -> Intrinsic:
    """Declare a reduction; on the CPU it begins with ``start``, or with the thread's own value."""

    def body(mask: int, value: T) -> T:
        scalar = scalar_of(value)
        assert scalar is not None
        return convert(reduce(reference, map(int, _values())), scalar)

    body.__doc__ = f"Return the {doc} of the values of the lanes of ``mask``."
    stem = f"reduce_{name}"

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        wide = "_wide" if dtype.bits == 64 else ""
        return helper(f"{stem}{wide}")(a, dtype)

    return intrinsic(
        f"cuda.{stem}_sync",
        effect=Effect.WARP,
        dtypes=REDUCED,
        cuda=_with_mask(spell),
        collective=lambda call: call.reduce(combine, start),
    )(body)


REDUCE_ADD = _reduction(
    "add",
    "sum",
    operator.add,
    combine=lambda total, value: total.wrapping_add(value),
    start=0,
)
REDUCE_MIN = _reduction(
    "min",
    "minimum",
    min,
    combine=lambda total, value: (value < total).select(value, total),
)
REDUCE_MAX = _reduction(
    "max",
    "maximum",
    max,
    combine=lambda total, value: (value > total).select(value, total),
)
REDUCE_AND = _reduction("and", "bitwise and", operator.and_, combine=operator.and_)
REDUCE_OR = _reduction("or", "bitwise or", operator.or_, combine=operator.or_, start=0)
REDUCE_XOR = _reduction("xor", "bitwise exclusive or", operator.xor, combine=operator.xor, start=0)

# operations whose result is the value of one of the lanes
LANE_SELECTING = (shfl_sync, shfl_up_sync, shfl_down_sync, shfl_xor_sync, REDUCE_MIN, REDUCE_MAX)
