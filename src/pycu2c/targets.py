"""What each target is made of: a dialect, the passes on the way to it, a toolchain."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.emit.dialect import CUDA, C, Dialect
from pycu2c.ir.nodes import Module
from pycu2c.passes.accumulators import own_accumulators
from pycu2c.passes.axis_loops import loop_over_axes
from pycu2c.passes.constant_types import type_constants
from pycu2c.passes.coordinates import pass_coordinates
from pycu2c.passes.counted_loops import count_loops
from pycu2c.passes.dead import drop_dead, drop_idle_declarations
from pycu2c.passes.declare import declare
from pycu2c.passes.fast_math import any_nan
from pycu2c.passes.fixed_block import fix_block
from pycu2c.passes.flatten import flatten
from pycu2c.passes.idle_threads import drop_idle_threads
from pycu2c.passes.inline import inline_block_level
from pycu2c.passes.joined_rows import join_rows
from pycu2c.passes.legalize import legalize
from pycu2c.passes.linearize import linearize, linearize_blocks
from pycu2c.passes.meetings import meet
from pycu2c.passes.merge import merge
from pycu2c.passes.narrow import narrow
from pycu2c.passes.narrow_strips import narrow_in_strips
from pycu2c.passes.own_c import take_own_c
from pycu2c.passes.own_memory import own_shared_memory
from pycu2c.passes.parts import split_in_strips
from pycu2c.passes.plain_memory import load_and_store_plainly
from pycu2c.passes.prefetch import ask_early
from pycu2c.passes.ranges import Facts
from pycu2c.passes.register_tiles import tile_registers
from pycu2c.passes.resumable import resumable
from pycu2c.passes.rows_ahead import ask_by_strips
from pycu2c.passes.small_calls import write_small_calls
from pycu2c.passes.thread_paths import threads_as_code
from pycu2c.passes.unrolled_loops import unroll_block_loops
from pycu2c.records import dataclass

Pass: TypeAlias = Callable[[Module, Facts], Module]


def _plain(run: Callable[[Module], Module]) -> Pass:
    """A pass that needs no facts of the launch."""
    return lambda module, _: run(module)


def _own_c(dialect: str) -> Pass:
    return lambda module, _: take_own_c(module, dialect)


# name -> pass, in the order in which they run
_MEANING: tuple[tuple[str, Pass], ...] = (
    ("legalize", legalize),
    ("constant_types", _plain(type_constants)),
)
_FORM: tuple[tuple[str, Pass], ...] = (
    ("flatten", flatten),
    ("declare", _plain(declare)),
)


@dataclass(frozen=True, slots=True)
class Target:
    """A language that kernels are compiled to."""

    name: str
    dialect: Dialect
    passes: tuple[tuple[str, Pass], ...]
    narrows: bool  # whether Python ints are 32-bit where they fit


_ON_CPU: tuple[tuple[str, Pass], ...] = (
    ("own_c", _own_c("c")),
    ("fixed_block", fix_block),
    ("small_calls", _plain(write_small_calls)),
    ("narrow_strips", narrow_in_strips),
    *_MEANING,
    ("parts", _plain(split_in_strips)),
    ("linearize", _plain(linearize_blocks)),
    ("inline", _plain(inline_block_level)),
    ("plain_memory", _plain(load_and_store_plainly)),
    ("own_memory", _plain(own_shared_memory)),
    ("dead", _plain(drop_dead)),
    ("meetings", meet),
    *_FORM,
)

TARGETS: dict[str, Target] = {
    "cuda": Target(
        "cuda",
        CUDA,
        (
            ("own_c", _own_c("cuda")),
            ("fast_math", any_nan),
            ("narrow", narrow),
            *_MEANING,
            ("merge", _plain(merge)),
            ("linearize", _plain(linearize)),
            ("dead", _plain(drop_dead)),
            *_FORM,
        ),
        narrows=True,
    ),
    # int64 counters vectorise better on CPUs, so that little is narrowed
    "cpu": Target(
        "cpu",
        C,
        (
            *_ON_CPU,
            ("counted_loops", count_loops),
            ("threads", threads_as_code),
            ("accumulators", own_accumulators),
            ("unrolled_loops", _plain(unroll_block_loops)),
            ("idle_threads", drop_idle_threads),
            ("coordinates", _plain(pass_coordinates)),
            ("axis_loops", loop_over_axes),
            ("register_tiles", _plain(tile_registers)),
            ("joined_rows", _plain(join_rows)),
            ("prefetch", ask_early),
            ("rows_ahead", _plain(ask_by_strips)),
            ("idle", _plain(drop_idle_declarations)),
        ),
        narrows=False,
    ),
    # for tests, and for who wants to compare: any kernel the way that is right for all
    "cpu-resumable": Target(
        "cpu-resumable",
        C,
        (*_ON_CPU, ("resumable", _plain(resumable))),
        narrows=False,
    ),
}
