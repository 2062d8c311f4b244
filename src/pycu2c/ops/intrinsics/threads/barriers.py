"""Where the threads of a block or of the grid meet, and fences."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pycu2c.base.dtypes import INT32, INT64, UINT32, DType
from pycu2c.ops.intrinsics.c_tree import c
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import plain

# The reference interpreter and the CPU passes give each barrier its meaning: the bodies run when
# the threads have met.


@intrinsic("cuda.syncthreads", effect=Effect.BARRIER, cuda=plain("__syncthreads"))
def syncthreads() -> None:
    """Wait until every thread of the block has come here.

    What they wrote before is then visible to all of them.
    """


def _predicates() -> list[bool]:
    return [predicate for (predicate,) in REFERENCE_STATE.current().exchanged.values()]


def _declare(name: str, doc: str, join: Callable[[list[bool]], int]) -> Intrinsic:
    def body(predicate: bool) -> int:
        return join(_predicates())

    body.__doc__ = doc
    cuda = plain(f"__{name}")
    declare = intrinsic(
        f"cuda.{name}", effect=Effect.BARRIER, cuda=cuda, bounds=(0, 1024), c_result=INT32
    )
    return declare(body)


COUNT = _declare(
    "syncthreads_count",
    "As ``syncthreads``; return for how many threads of the block ``predicate`` is true.",
    sum,
)
AND = _declare(
    "syncthreads_and",
    "As ``syncthreads``; return 1 if ``predicate`` is true for all threads of the block, else 0.",
    lambda predicates: int(all(predicates)),
)
OR = _declare(
    "syncthreads_or",
    "As ``syncthreads``; return 1 if ``predicate`` is true for some thread of the block, else 0.",
    lambda predicates: int(any(predicates)),
)


# ---- the grid ----------------------------------------------------------------------------------


@intrinsic(
    "cuda.cg.this_grid.sync",
    effect=Effect.GRID,
    cuda=plain("cooperative_groups::this_grid().sync"),
    cuda_headers=("cooperative_groups.h",),
)
def grid_sync() -> None:
    """Wait until every thread of the grid has come here."""


# ---- fences ------------------------------------------------------------------------------------


def _fence(name: str, seen_by: str, on_cpu: str) -> Intrinsic:
    def body() -> None:
        return None

    body.__doc__ = (
        f"What this thread wrote before is visible to {seen_by} before what it writes after."
    )

    def in_c(_: Mapping[str, c.Expr], __: DType) -> c.Expr:
        return c.Call(on_cpu, (c.Name("__ATOMIC_SEQ_CST"),))

    declare = intrinsic(f"cuda.{name}", effect=Effect.MEMORY, cuda=plain(f"__{name}"), c=in_c)
    return declare(body)


# on the CPU one worker runs a block: only the compiler could reorder what its threads see
FENCES = (
    _fence("threadfence_block", "the threads of its block", "__atomic_signal_fence"),
    _fence("threadfence", "all threads of the device", "__atomic_thread_fence"),
    _fence("threadfence_system", "the device and the host", "__atomic_thread_fence"),
)


def _nothing(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
    return c.Cast(c.NamedType("void"), a["ns"])


@intrinsic("cuda.nanosleep", effect=Effect.MEMORY, cuda=plain("__nanosleep"), c=_nothing)
def nanosleep(ns: int) -> None:
    """Let others run for about ``ns`` nanoseconds, or not at all."""


# ---- clocks ------------------------------------------------------------------------------------


def _clock(name: str, doc: str, function: str, gives: DType) -> Intrinsic:
    """On the CPU all count nanoseconds."""
    most = 2**32 - 1 if gives is UINT32 else 2**63 - 1

    def body() -> int:
        return time.perf_counter_ns() & most

    body.__doc__ = doc
    return intrinsic(
        f"cuda.{name}",
        effect=Effect.MEMORY,
        cuda=plain(function),
        c=plain(f"nanoseconds_{gives.short}"),
        cuda_helpers=() if function == "clock64" else (function,),
        c_helpers=(f"nanoseconds_{gives.short}",),
        bounds=(0, most),
        c_result=gives,
    )(body)


CLOCKS = (
    _clock(
        "clock",
        "The lower 32 bits of ``clock64``.",
        "clock32",
        UINT32,
    ),
    _clock(
        "clock64",
        "A counter that goes up with the clock of a multiprocessor; on the CPU, with nanoseconds.",
        "clock64",
        INT64,
    ),
    _clock("globaltimer", "A clock that counts nanoseconds.", "globaltimer", INT64),
)
