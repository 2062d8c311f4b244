"""Barriers of a block and of the grid, fences, and clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pycu2c.base.dtypes import INT32, INT64, UINT32, DType
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.ops.intrinsics.registry import CollectiveResult, Effect, Intrinsic, Spelling, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded

# The reference interpreter runs the bodies after the threads have synchronized.


@intrinsic("cuda.syncthreads", effect=Effect.BARRIER, cuda=overloaded("__syncthreads"))
def syncthreads() -> None:
    """Wait until every thread of the block has reached the barrier.

    Their earlier writes are then visible to all of them.
    """


@intrinsic(
    "check.syncthreads",
    effect=Effect.BARRIER,
    cuda=lambda *_: c.CallExpr("__barrier_sync", (c.Number("0"),)),
)
def syncthreads_diverged() -> None:
    """As ``syncthreads``, where lanes of a warp may have diverged, so that it never hangs."""


# the same barriers for lanes that have diverged
DIVERGED: dict[Intrinsic, Intrinsic] = {syncthreads: syncthreads_diverged}


def _predicates() -> list[bool]:
    return [predicate for (predicate,) in REFERENCE_STATE.current().exchanged.values()]


def _vote(
    name: str,
    doc: str,
    *,
    reference: Callable[[list[bool]], int],
    collective: CollectiveResult,
) -> Intrinsic:
    def declare(name: str, cuda: Spelling) -> Intrinsic:
        return intrinsic(
            name,
            effect=Effect.BARRIER,
            cuda=cuda,
            collective=collective,
            bounds=(0, 1024),
            c_result=INT32,
        )(body)

    def body(predicate: bool) -> int:
        return reference(_predicates())

    body.__doc__ = doc
    vote = declare(f"cuda.{name}", overloaded(f"__{name}"))
    DIVERGED[vote] = declare(f"check.{name}", overloaded(name.replace("syncthreads", "barrier")))
    return vote


COUNT = _vote(
    "syncthreads_count",
    "As ``syncthreads``; return for how many threads of the block ``predicate`` is true.",
    reference=sum,
    collective=lambda call: call.count("count", call["predicate"]),
)
AND = _vote(
    "syncthreads_and",
    "As ``syncthreads``; return 1 if ``predicate`` is true for all threads of the block, else 0.",
    reference=lambda predicates: int(all(predicates)),
    collective=lambda call: call.count("fails", call["predicate"].logical_not()) == 0,
)
OR = _vote(
    "syncthreads_or",
    "As ``syncthreads``; return 1 if ``predicate`` is true for some thread of the block, else 0.",
    reference=lambda predicates: int(any(predicates)),
    collective=lambda call: call.count("holds", call["predicate"]) != 0,
)


# ---- the grid ----------------------------------------------------------------------------------


@intrinsic(
    "cuda.cg.this_grid.sync",
    effect=Effect.GRID,
    cuda=overloaded("cooperative_groups::this_grid().sync"),
    cuda_headers=("cooperative_groups.h",),
)
def grid_sync() -> None:
    """Wait until every thread of the grid has reached the barrier."""


# ---- fences ------------------------------------------------------------------------------------


def _fence(name: str, observers: str, cpu_function: str) -> Intrinsic:
    def body() -> None:
        return None

    body.__doc__ = (
        f"Make earlier writes of this thread visible to {observers} before its later writes."
    )

    def spell(_: Mapping[str, c.Expr], __: DType) -> c.Expr:
        return c.CallExpr(cpu_function, (c.Name("__ATOMIC_SEQ_CST"),))

    declare = intrinsic(f"cuda.{name}", effect=Effect.MEMORY, cuda=overloaded(f"__{name}"), c=spell)
    return declare(body)


# on the CPU one worker runs a block: only the compiler could reorder what its threads see
FENCES = (
    _fence("threadfence_block", "the threads of its block", "__atomic_signal_fence"),
    _fence("threadfence", "all threads of the device", "__atomic_thread_fence"),
    _fence("threadfence_system", "the device and the host", "__atomic_thread_fence"),
)


def _no_operation(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
    return c.CastExpr(c.NamedType("void"), a["ns"])


@intrinsic("cuda.nanosleep", effect=Effect.MEMORY, cuda=overloaded("__nanosleep"), c=_no_operation)
def nanosleep(ns: int) -> None:
    """Suspend the thread for about ``ns`` nanoseconds; has no effect on the CPU."""


# ---- clocks ------------------------------------------------------------------------------------


def _clock(name: str, doc: str, function: str, dtype: DType) -> Intrinsic:
    """Declare a clock; on the CPU all clocks count nanoseconds."""
    maximum = 2**32 - 1 if dtype is UINT32 else 2**63 - 1

    def body() -> int:
        return time.perf_counter_ns() & maximum

    body.__doc__ = doc
    return intrinsic(
        f"cuda.{name}",
        effect=Effect.MEMORY,
        cuda=overloaded(function),
        c=overloaded(f"nanoseconds_{dtype.short}"),
        bounds=(0, maximum),
        c_result=dtype,
    )(body)


CLOCKS = (
    _clock("clock", "Return the lower 32 bits of ``clock64``.", "clock32", UINT32),
    _clock(
        "clock64",
        "Return the cycle counter of the multiprocessor; on the CPU, nanoseconds.",
        "clock64",
        INT64,
    ),
    _clock("globaltimer", "Return a clock in nanoseconds.", "globaltimer", INT64),
)
