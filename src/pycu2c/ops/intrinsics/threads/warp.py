"""Warp operations: shuffles, votes, matches, reductions.

The body of an intrinsic runs after the lanes have synchronized;
``REFERENCE_STATE.current().exchanged`` has the arguments of each lane. Lanes of the mask that have
returned are not waited for, and contribute nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from pycu2c.base.dtypes import INT32, INT64, UINT32, UINT64, DType
from pycu2c.base.values import convert, scalar_of
from pycu2c.ops.intrinsics.c_tree import c
from pycu2c.ops.intrinsics.kinds import T, form
from pycu2c.ops.intrinsics.reference_thread import EXCHANGED, REFERENCE_STATE, WARP
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, Spell, intrinsic
from pycu2c.ops.intrinsics.spelling import helper, overloaded

ALL_LANES = 0xFFFFFFFF
_MASKS = (0, ALL_LANES)  # the bounds of a mask as a result


def _with_mask(spell: Spell) -> Spell:
    """Spell a literal mask in hexadecimal."""

    def spelled(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        mask = a["mask"]
        if isinstance(mask, c.Number):
            bits = int(mask.text.rstrip("ULul")) & ALL_LANES
            a = {**a, "mask": c.Number(f"{bits:#010x}")}
        return spell(a, dtype)

    return spelled


def _values() -> list[Any]:
    """Return the last argument of each lane."""
    return [arguments[1] for arguments in REFERENCE_STATE.current().exchanged.values()]


# ---- lane indices and masks --------------------------------------------------------------------


def _special(name: str, doc: str, read: Callable[[int], int], bounds: tuple[int, int]) -> Intrinsic:
    def body() -> int:
        return read(REFERENCE_STATE.current().lane)

    body.__doc__ = doc
    return intrinsic(
        f"cuda.{name}",
        cuda=lambda _, wanted: c.CallExpr(f"{name}_{wanted.short}", ()),
        cuda_helpers=(name,),
        is_attribute=name == "laneid",
        is_divergent=True,
        bounds=(min(bounds), max(bounds)),
    )(body)


LANE = _special("laneid", "The thread's number in its warp, 0 to 31.", int, (0, WARP - 1))
# each is factor * (1 << lane) + constant
_LANEMASKS = (
    ("lanemask_lt", 1, -1, "below the thread's own"),
    ("lanemask_le", 2, -1, "up to the thread's own"),
    ("lanemask_eq", 1, 0, "of which there is one, the thread's own"),
    ("lanemask_ge", -1, 1 << WARP, "from the thread's own on"),
    ("lanemask_gt", -2, 1 << WARP, "above the thread's own"),
)


def _lanemask(name: str, factor: int, constant: int, which: str) -> Intrinsic:
    def read(lane: int) -> int:
        return factor * (1 << lane) + constant

    return _special(name, f"The bits of the lanes {which}.", read, (read(0), read(WARP - 1)))


LANEMASKS = {_lanemask(*entry): (entry[1], entry[2]) for entry in _LANEMASKS}


@intrinsic("cuda.warpsize", is_attribute=True, bounds=(WARP, WARP))
def warpsize() -> int:
    """The threads of a warp: 32."""
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
    bounds=_MASKS,
    c_result=UINT32,
)
def activemask() -> int:
    """Return the mask of the active lanes of the warp, which depends on the hardware."""
    return sum(1 << number % WARP for number in REFERENCE_STATE.current().exchanged)


# ---- shuffles ----------------------------------------------------------------------------------


def _with_width(function: str) -> Spell:
    """Spell a shuffle: omit a width of 32, and cast results narrower than int."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        *others, width = a.values()
        whole = isinstance(width, c.Number) and width.text.rstrip("L") == str(WARP)
        call = c.CallExpr(function, (*others, *(() if whole else (width,))))
        return c.CastExpr(c.NamedType(dtype.cuda), call) if dtype.bits < 32 else call

    return spell


def _shuffle(body: Callable[..., Any]) -> Intrinsic:
    name = body.__name__
    spell = _with_mask(_with_width(f"__{name}"))
    last = list(body.__annotations__)[2]
    head = f"mask: SupportsIndex, value: _E, {last}: SupportsIndex, width: SupportsIndex = 32"
    declare = intrinsic(
        f"cuda.{name}",
        effect=Effect.WARP,
        dtypes=EXCHANGED,
        cuda=spell,
        overloads=(f"({head}) -> _E",),  # vectors, too
    )
    return declare(body)


def _value_of(lane: int, value: Any) -> Any:
    """Return the value of a lane; of an inactive lane, undefined in CUDA, the thread's value."""
    me = REFERENCE_STATE.current()
    arguments = me.exchanged.get(me.number - me.lane + lane)
    return value if arguments is None else arguments[1]


def _part(width: int) -> range:
    """Return the lanes that a thread exchanges values with."""
    first = REFERENCE_STATE.current().lane // width * width
    return range(first, first + width)


def _low(number: int) -> int:
    """Return a lane or distance modulo 32, as the hardware does."""
    return number % WARP


@_shuffle
def shfl_sync(mask: int, value: T, src_lane: int, width: int = WARP) -> T:
    """The value that lane ``src_lane`` gives.

    Lanes count modulo ``width`` (2, 4, 8, 16 or 32) from the first of the part that the thread
    is in.
    """
    return _value_of(_part(width)[src_lane % width], value)


@_shuffle
def shfl_up_sync(mask: int, value: T, delta: int, width: int = WARP) -> T:
    """The value of the lane ``delta`` below; the own one where that is in another part."""
    lane = REFERENCE_STATE.current().lane - _low(delta)
    return _value_of(lane, value) if lane in _part(width) else value


@_shuffle
def shfl_down_sync(mask: int, value: T, delta: int, width: int = WARP) -> T:
    """The value of the lane ``delta`` above; the own one where that is in another part."""
    lane = REFERENCE_STATE.current().lane + _low(delta)
    return _value_of(lane, value) if lane in _part(width) else value


@_shuffle
def shfl_xor_sync(mask: int, value: T, lane_mask: int, width: int = WARP) -> T:
    """The value of the lane whose number is the thread's own ``^ lane_mask``; the own value
    where that lane is in a later part."""
    lane = REFERENCE_STATE.current().lane ^ _low(lane_mask)
    return _value_of(lane, value) if lane < _part(width).stop else value


# ---- votes -------------------------------------------------------------------------------------


def _vote(body: Callable[..., Any]) -> Intrinsic:
    name = body.__name__
    call = _with_mask(overloaded("__uni_sync" if name == "eq_sync" else f"__{name}"))

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.BinaryExpr("!=", call(a, dtype), c.Number("0"))

    return intrinsic(f"cuda.{name}", effect=Effect.WARP, cuda=spell)(body)


@_vote
def all_sync(mask: int, predicate: bool) -> bool:
    """Whether ``predicate`` is true for all lanes of ``mask``."""
    return all(_values())


@_vote
def any_sync(mask: int, predicate: bool) -> bool:
    """Whether ``predicate`` is true for some lane of ``mask``."""
    return any(_values())


@_vote
def eq_sync(mask: int, predicate: bool) -> bool:
    """Whether ``predicate`` is the same for all lanes of ``mask``."""
    return len(set(_values())) == 1


def _lanes_where(holds: Callable[[Any], bool]) -> int:
    """Return the mask of the lanes whose last argument satisfies ``holds``."""
    met = REFERENCE_STATE.current().exchanged
    return sum(1 << number % WARP for number, arguments in met.items() if holds(arguments[1]))


@intrinsic(
    "cuda.ballot_sync",
    effect=Effect.WARP,
    cuda=_with_mask(overloaded("__ballot_sync")),
    bounds=_MASKS,
    c_result=UINT32,
)
def ballot_sync(mask: int, predicate: bool) -> int:
    """The bits of the lanes of ``mask`` for which ``predicate`` is true."""
    return _lanes_where(bool)


# ---- matches -----------------------------------------------------------------------------------


def _bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


@intrinsic(
    "cuda.match_any_sync",
    effect=Effect.WARP,
    dtypes=EXCHANGED,
    cuda=_with_mask(overloaded("__match_any_sync")),
    bounds=_MASKS,
    c_result=UINT32,
)
def match_any_sync(mask: int, value: T) -> int:
    """The lanes of ``mask`` that give the same value as the thread: bit for bit, so that NaN is
    like NaN, and -0.0 not like 0.0."""
    return _lanes_where(lambda other: _bits(other) == _bits(value))


@intrinsic(
    "cuda.match_all_sync.lanes",
    effect=Effect.WARP,
    dtypes=EXCHANGED,
    cuda=_with_mask(helper("match_all")),
    cuda_helpers=("match_all",),
    bounds=_MASKS,
    c_result=UINT32,
)
def match_all_lanes(mask: int, value: T) -> int:
    """``mask`` if all its lanes give the same value, else 0."""
    same = len(set(map(_bits, _values()))) == 1
    return _lanes_where(lambda _: True) if same else 0


@intrinsic(
    "cuda.match_all_sync",
    effect=Effect.WARP,
    dtypes=EXCHANGED,
    overloads=("(mask: SupportsIndex, value: _Number) -> tuple[int, bool]",),
)
def match_all_sync(mask: int, value: T) -> form:
    """Whether all lanes of ``mask`` give the same value: ``(mask, True)``, or ``(0, False)``."""
    lanes = match_all_lanes.reference(mask, value)
    return lanes, lanes != 0


# ---- reductions --------------------------------------------------------------------------------

REDUCED = (INT32, INT64, UINT32, UINT64)


def _reduction(name: str, doc: str, join: Callable[[int, int], int]) -> Intrinsic:
    def body(mask: int, value: T) -> T:
        scalar = scalar_of(value)
        assert scalar is not None
        return convert(reduce(join, map(int, _values())), scalar)

    body.__doc__ = f"{doc} that the lanes of ``mask`` give."
    stem = f"reduce_{name}"

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        wide = "_wide" if dtype.bits == 64 else ""
        return helper(f"{stem}{wide}")(a, dtype)

    return intrinsic(
        f"cuda.{stem}_sync",
        effect=Effect.WARP,
        dtypes=REDUCED,
        cuda=_with_mask(spell),
        cuda_helpers=(stem, f"{stem}_wide"),
    )(body)


REDUCTIONS = tuple(
    _reduction(*entry)
    for entry in (
        ("add", "The sum of the values", lambda a, b: a + b),
        ("min", "The least of the values", min),
        ("max", "The greatest of the values", max),
        ("and", "The bits common to the values", lambda a, b: a & b),
        ("or", "The bits of any of the values", lambda a, b: a | b),
        ("xor", "The exclusive or of the values", lambda a, b: a ^ b),
    )
)

# operations whose result is the value of one of the lanes
CHOOSING = (shfl_sync, shfl_up_sync, shfl_down_sync, shfl_xor_sync, *REDUCTIONS[1:3])
