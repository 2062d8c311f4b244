"""Internal intrinsics of the CPU passes: thread ranks, block ranges, prefetch, streaming stores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, INT32, INT64, DType
from pycu2c.base.limits import MAX_BLOCK_THREADS, MAX_SHARED_BYTES
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.builtins import NUMBERS
from pycu2c.ops.intrinsics.kinds import T, array, index, int32
from pycu2c.ops.intrinsics.reference_thread import EXCHANGE_DTYPES, INTEGERS, REFERENCE_STATE
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import helper
from pycu2c.ops.intrinsics.threads.coordinates import AXES, BLOCK_LIMIT, GRID_LIMIT

# types whose elements are C lvalues without conversion
PREFETCHED = (*INTEGERS, FLOAT32, FLOAT64)
LANES = 64  # threads of a strip (SIMD batch); 32 and 128 are slower


def _same_bits(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    if dtype.is_float:
        return c.CallExpr(f"same_bits_{dtype.short}", (a["a"], a["b"]))
    return c.BinaryExpr("==", a["a"], a["b"])


@intrinsic("block.same_bits", dtypes=EXCHANGE_DTYPES, c=_same_bits)
def same_bits(a: T, b: T) -> bool:
    """Return whether two numbers have the same bits: NaN equals NaN, -0.0 differs from 0.0."""
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@intrinsic("block.positive_zero", dtypes=(FLOAT32, FLOAT64), c=helper("positive_zero"))
def positive_zero(x: T) -> T:
    """Return a number, with 0.0 in place of -0.0."""
    return x + type(x)(0)


@intrinsic("block.low_bits", dtypes=(FLOAT32, FLOAT64), c=helper("low_bits"))
def low_bits(x: T) -> int32:
    """Return a number without its fraction, as an int64 of which the low 32 bits are kept."""
    return convert(convert(x, Scalar(INT64)), Scalar(INT32))


def _pick(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    return c.CallExpr(f"pick_{dtype.short}", tuple(a.values()))


@intrinsic("block.pick", dtypes=NUMBERS, c=_pick)
def pick(a: T, b: T, mask: int) -> T:
    """Return ``a`` if the mask is 1, ``b`` if it is 0, without a branch."""
    return a if mask else b


@intrinsic(
    "block.thread",
    c=lambda _a, _t: c.Name("thread"),
    is_special_register=True,
    is_divergent=True,
    bounds=(0, MAX_BLOCK_THREADS - 1),
)
def linear_thread_index() -> int:
    """Return the rank of the thread in its block, x fastest."""
    return REFERENCE_STATE.current().rank


@intrinsic(
    "block.blocks_left", c=lambda _a, _t: c.BinaryExpr("-", c.Name("last_block"), c.Name("block"))
)
def blocks_left() -> int:
    """Return the number of blocks that the OS thread still runs, including the current one."""
    raise AssertionError("the reference interpreter has no ranges of blocks")


def _shared_bytes(_: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    return c.CallExpr(f"shared_bytes_{dtype.short}", ())


@intrinsic(
    "block.shared_bytes",
    cuda=_shared_bytes,
    c=lambda _a, _t: c.MemberExpr(c.Name("args"), "shared_bytes", arrow=True),
    bounds=(0, MAX_SHARED_BYTES),
)
def shared_bytes() -> int:
    """Return the bytes of dynamic shared memory of a block."""
    raise AssertionError("the reference interpreter has the array itself")


def _prefetch(a: Mapping[str, c.Expr], dtype: DType, helper: str) -> c.Expr:
    return c.CallExpr(
        f"{helper}_{dtype.short}", (c.UnaryExpr("&", a["first"]), a["ahead"], a["count"])
    )


@intrinsic("block.prefetch", c=lambda a, t: _prefetch(a, t, "prefetch"))
def prefetch(first: T, ahead: int, count: int) -> None:
    """Prefetch ``count`` elements for reading, ``ahead`` elements after ``first``."""


@intrinsic("block.prefetch_to_write", c=lambda a, t: _prefetch(a, t, "prefetch_to_write"))
def prefetch_to_write(first: T, ahead: int, count: int) -> None:
    """Prefetch ``count`` elements for writing, ``ahead`` elements after ``first``."""


@intrinsic(
    "block.cache_line_offset",
    c=lambda a, t: c.CallExpr(f"cache_line_offset_{t.short}", (c.UnaryExpr("&", a["first"]),)),
)
def cache_line_offset(first: T) -> int:
    """Return the offset of an element in its cache line, in elements."""
    raise AssertionError("the reference interpreter has no cache lines")


def _nontemporal_store(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    return c.CallExpr(
        f"nontemporal_store_{dtype.short}", (a["array"], c.UnaryExpr("&", a["line"]), a["count"])
    )


@intrinsic("block.nontemporal_store", effect=Effect.MEMORY, c=_nontemporal_store)
def nontemporal_store(array: array, index: index, line: T, count: int) -> None:
    """Store ``count`` elements from this one on with nontemporal stores."""


@intrinsic(
    "block.nontemporal_fence",
    effect=Effect.MEMORY,
    c=lambda _a, _t: c.CallExpr("nontemporal_fence", ()),
)
def nontemporal_fence() -> None:
    """Make earlier nontemporal stores visible to other threads."""


@intrinsic("block.at_least_1", c=lambda a, t: c.CallExpr(f"at_least_1_{t.short}", (a["n"],)))
def at_least_1(n: T) -> None:
    """Tell the C compiler that a number is at least 1."""
    assert n >= 1


def _declare_end(end: str, axis: str) -> Intrinsic:
    """Declare the start or end, along an axis, of the threads of a row of blocks."""

    def bound() -> int:
        thread, index = REFERENCE_STATE.current(), AXES.index(axis)
        return (thread.blockIdx[index] + (end == "last")) * thread.blockDim[index]

    position = "first thread" if end == "first" else "end of the threads"
    bound.__doc__ = f"Return the {position} along {axis} of the current row of blocks."
    declare = intrinsic(
        f"block.{end}.{axis}",
        c=lambda _a, _t: c.Name(f"{end}_{axis}"),
        is_special_register=True,
        bounds=(0, GRID_LIMIT[axis] * BLOCK_LIMIT[axis]),
    )
    return declare(bound)


# the first thread of a row of blocks, and the one after the last
ROW_START = tuple(_declare_end("first", axis) for axis in AXES)
ROW_END = tuple(_declare_end("last", axis) for axis in AXES)
