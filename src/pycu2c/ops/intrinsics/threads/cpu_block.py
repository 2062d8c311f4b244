"""What the CPU build alone needs: where a thread stands inside its block, where the blocks stand
that are run together, and numbers compared bit by bit. Not for users."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, DType
from pycu2c.ops.intrinsics.builtins import NUMBERS
from pycu2c.ops.intrinsics.c_tree import c
from pycu2c.ops.intrinsics.kinds import T, array, index
from pycu2c.ops.intrinsics.reference_thread import EXCHANGED, INTEGERS, REFERENCE_STATE
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, BLOCK_LIMIT, GRID_LIMIT

# what has an address in C, with nothing converted
PREFETCHED = (*INTEGERS, FLOAT32, FLOAT64)
MOST_THREADS = 1024  # of a block, on every device
LANES = 64  # of a strip: with 32 or 128, mandelbrot takes longer
MOST_SHARED = 227 * 1024  # bytes, on the devices that have most


def _same_bits(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    if dtype.is_float:
        return c.Call(f"same_bits_{dtype.short}", (a["a"], a["b"]))
    return c.Binary("==", a["a"], a["b"])


@intrinsic("block.same_bits", dtypes=EXCHANGED, c=_same_bits, c_helpers=("same_bits",))
def same_bits(a: T, b: T) -> bool:
    """Whether two numbers are the same to the bit: NaN is like NaN, -0.0 not like 0.0."""
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def _pick(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    return c.Call(f"pick_{dtype.short}", tuple(a.values()))


@intrinsic("block.pick", dtypes=NUMBERS, c=_pick, c_helpers=("pick",))
def pick(a: T, b: T, mask: int) -> T:
    """``a`` where the mask is 1, ``b`` where it is 0, without a branch."""
    return a if mask else b


@intrinsic(
    "block.thread",
    c=lambda _a, _t: c.Name("thread"),
    is_attribute=True,
    is_divergent=True,
    bounds=(0, MOST_THREADS - 1),
)
def block_thread() -> int:
    """The number of the running thread in its block, x fastest."""
    return REFERENCE_STATE.current().number


@intrinsic(
    "block.blocks_left",
    c=lambda _a, _t: c.Binary("-", c.Name("last_block"), c.Name("block")),
)
def blocks_left() -> int:
    """How many blocks the OS thread still runs, the running one with them."""
    raise AssertionError("who interprets runs all blocks at a time")


@intrinsic("block.launched", c=lambda _a, _t: c.Name("launched"), is_attribute=True)
def launched() -> int:
    """How many threads the launch has."""
    raise AssertionError("only loops over rows ask for it")


def _size(_: Mapping[str, c.Expr], wanted: DType) -> c.Expr:
    return c.Call(f"shared_bytes_{wanted.short}", ())


@intrinsic(
    "block.shared_bytes",
    cuda=_size,
    cuda_helpers=("shared_bytes",),
    c=lambda _a, _t: c.Member(c.Name("args"), "shared_bytes", arrow=True),
    bounds=(0, MOST_SHARED),
)
def shared_bytes() -> int:
    """The bytes of dynamic shared memory that the launch gives each block."""
    raise AssertionError("the reference interpreter has the array itself")


def _asking(a: Mapping[str, c.Expr], dtype: DType, helper: str) -> c.Expr:
    return c.Call(f"{helper}_{dtype.short}", (c.Unary("&", a["first"]), a["ahead"], a["count"]))


@intrinsic("block.prefetch", c=lambda a, t: _asking(a, t, "prefetch"), c_helpers=("prefetch",))
def prefetch(first: T, ahead: int, count: int) -> None:
    """So many elements of an array, from ``ahead`` after this one on, will be read soon."""


@intrinsic(
    "block.prefetch_to_write",
    c=lambda a, t: _asking(a, t, "prefetch_to_write"),
    c_helpers=("prefetch_to_write",),
)
def prefetch_to_write(first: T, ahead: int, count: int) -> None:
    """So many elements of an array, from ``ahead`` after this one on, will be written soon."""


@intrinsic(
    "block.cache_line_offset",
    c=lambda a, t: c.Call(f"cache_line_offset_{t.short}", (c.Unary("&", a["first"]),)),
    c_helpers=("cache_line_offset",),
)
def cache_line_offset(first: T) -> int:
    """How many elements of an array lie before this one in its line of memory."""
    raise AssertionError("who interprets has no lines of memory")


def _past(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    return c.Call(
        f"nontemporal_store_{dtype.short}", (a["array"], c.Unary("&", a["line"]), a["count"])
    )


@intrinsic(
    "block.nontemporal_store",
    effect=Effect.MEMORY,
    c=_past,
    c_helpers=("store_line", "nontemporal_store"),
)
def nontemporal_store(array: array, index: index, line: T, count: int) -> None:
    """Write elements, this and those after it, without a cache."""


@intrinsic(
    "block.nontemporal_fence",
    effect=Effect.MEMORY,
    c=lambda _a, _t: c.Call("nontemporal_fence", ()),
    c_helpers=("nontemporal_fence",),
)
def nontemporal_fence() -> None:
    """What has been written without a cache is for others to see from here on."""


@intrinsic(
    "block.at_least_1",
    c=lambda a, t: c.Call(f"at_least_1_{t.short}", (a["n"],)),
    c_helpers=("at_least_1",),
)
def at_least_1(n: T) -> None:
    """A fact about a number, for the C compiler."""
    assert n >= 1


def _declare_end(end: str, axis: str) -> Intrinsic:
    """Where blocks that are run together begin, or end, along an axis of the grid."""

    def place() -> int:
        here, index = REFERENCE_STATE.current(), AXES.index(axis)
        return (here.blockIdx[index] + (end == "last")) * here.blockDim[index]

    place.__doc__ = f"Of the threads that run together along {axis}: the {end}."
    declare = intrinsic(
        f"block.{end}.{axis}",
        c=lambda _a, _t: c.Name(f"{end}_{axis}"),
        is_attribute=True,
        bounds=(0, GRID_LIMIT[axis] * BLOCK_LIMIT[axis]),
    )
    return declare(place)


# the first, and the one after the last
FIRST = tuple(_declare_end("first", axis) for axis in AXES)
LAST = tuple(_declare_end("last", axis) for axis in AXES)
