"""What each target is made of: a dialect, the passes on the way to it, a toolchain."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.base.records import dataclass
from pycu2c.codegen.dialect import CUDA, C, Dialect
from pycu2c.ir.module_summary import ModuleSummary
from pycu2c.ir.nodes import Allocate, Expr, For, Module, Stmt, While
from pycu2c.ops.intrinsics.threads.cpu_block import FIRST
from pycu2c.transforms.common import (
    constant_array_types,
    dead_code,
    inline,
    linearize,
    select_inline_c,
)
from pycu2c.transforms.common import declare_variables as declarations
from pycu2c.transforms.common import flatten_arrays as flattening
from pycu2c.transforms.common import legalize as legal_code
from pycu2c.transforms.cpu import (
    fix_block_shape,
    inline_small_calls,
    pass_coordinates,
    select_cpu_lowering,
)
from pycu2c.transforms.cpu.barriers import coroutines as in_steps
from pycu2c.transforms.cpu.barriers import lower_barriers
from pycu2c.transforms.cpu.fission import dead_lane_elimination
from pycu2c.transforms.cpu.loops import (
    axis_loops,
    counted_loops,
    register_tiling,
    unroll_and_jam,
    unroll_loops,
)
from pycu2c.transforms.cpu.memory import (
    deatomize_shared,
    drop_cache_hints,
    nontemporal_stores,
    privatize_accumulators,
    software_prefetch,
    strip_prefetch,
)
from pycu2c.transforms.cpu.simd import narrow_integers_in_loops, scalar_replacement
from pycu2c.transforms.cuda import fast_math
from pycu2c.transforms.cuda import merge_live_ranges as merging
from pycu2c.transforms.cuda import narrow_integers as narrowing

Run: TypeAlias = Callable[[Module, Facts], Module]


def _anything(_: ModuleSummary) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass by its name. ``works_on`` says whether it may change a module that consists of that:
    if not, its room is not even imported."""

    name: str
    run: Run
    works_on: Callable[[ModuleSummary], bool] = _anything


@dataclass(frozen=True, slots=True)
class Target:
    """A language that kernels are compiled to."""

    name: str
    dialect: Dialect
    passes: tuple[Pass, ...]  # in the order in which they run
    narrows: bool  # whether Python ints are 32-bit where they fit


def _any_of(*kinds: type[Stmt | Expr]) -> Callable[[ModuleSummary], bool]:
    return lambda there: there.any_of(*kinds)


def _devices(there: ModuleSummary) -> bool:
    return there.has_device_functions


def _memory(there: ModuleSummary) -> bool:
    return there.has_memory_intrinsics


def _other_on_cpu(there: ModuleSummary) -> bool:
    return there.needs_cpu_lowering


def _rows(there: ModuleSummary) -> bool:
    """Whether blocks that run together go along more axes than x."""
    return not there.intrinsics.isdisjoint(FIRST[1:])


_LOOPS = _any_of(For, While)


def _own_c(dialect: str) -> Pass:
    return Pass(
        "own_c",
        lambda m, _: select_inline_c.select_inline_c(m, dialect),
        lambda there: there.has_inline_c,
    )


def _past_caches(m: Module, facts: Facts) -> Module:
    return nontemporal_stores.use_nontemporal_stores(m) if facts.past_caches else m


_MEANING = (
    Pass("legalize", lambda m, facts: legal_code.legalize(m, facts)),
    Pass("constant_types", lambda m, _: constant_array_types.narrow_constant_arrays(m)),
)
_FORM = (
    Pass("flatten", lambda m, facts: flattening.flatten(m, facts)),
    Pass("declare", lambda m, _: declarations.declare(m)),
)
_DEAD = Pass("dead", lambda m, _: dead_code.eliminate_dead_code(m))

_ON_CPU = (
    _own_c("c"),
    Pass("fixed_block", lambda m, facts: fix_block_shape.fix_block(m, facts)),
    Pass("small_calls", lambda m, _: inline_small_calls.inline_small_calls(m), _devices),
    Pass(
        "narrow_strips",
        lambda m, facts: narrow_integers_in_loops.narrow_integers_in_loops(m, facts),
        _LOOPS,
    ),
    *_MEANING,
    Pass("parts", lambda m, _: scalar_replacement.replace_aggregates(m), _LOOPS),
    Pass("linearize", lambda m, _: linearize.linearize_blocks(m)),
    Pass("inline", lambda m, _: inline.inline_block_level(m), _devices),
    Pass(
        "plain_memory",
        lambda m, _: drop_cache_hints.drop_cache_hints(m),
        _other_on_cpu,
    ),
    Pass(
        "own_memory",
        lambda m, _: deatomize_shared.deatomize_shared(m),
        _memory,
    ),
    _DEAD,
    Pass(
        "meetings",
        lambda m, facts: lower_barriers.lower_barriers(m, facts),
        _other_on_cpu,
    ),
    *_FORM,
)

TARGETS: dict[str, Target] = {
    "cuda": Target(
        "cuda",
        CUDA,
        (
            _own_c("cuda"),
            Pass("fast_math", lambda m, facts: fast_math.relax_nan_order(m, facts)),
            Pass("narrow", lambda m, facts: narrowing.narrow(m, facts)),
            *_MEANING,
            Pass("merge", lambda m, _: merging.merge_live_ranges(m)),
            Pass("linearize", lambda m, _: linearize.linearize(m)),
            _DEAD,
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
            Pass(
                "counted_loops",
                lambda m, facts: counted_loops.convert_while_to_for(m, facts),
                _any_of(While),
            ),
            Pass("threads", lambda m, facts: select_cpu_lowering.lower_threads(m, facts)),
            Pass(
                "accumulators",
                lambda m, facts: privatize_accumulators.privatize_accumulators(m, facts),
                _memory,
            ),
            Pass("unrolled_loops", lambda m, _: unroll_loops.unroll_block_loops(m), _any_of(While)),
            Pass(
                "idle_threads",
                lambda m, facts: dead_lane_elimination.eliminate_dead_lanes(m, facts),
                _any_of(Allocate),
            ),
            Pass("coordinates", lambda m, _: pass_coordinates.pass_coordinates(m), _devices),
            Pass("axis_loops", lambda m, facts: axis_loops.loop_over_axes(m, facts)),
            Pass("register_tiles", lambda m, _: register_tiling.tile_registers(m), _any_of(For)),
            Pass("joined_rows", lambda m, _: unroll_and_jam.unroll_and_jam(m), _any_of(For)),
            Pass(
                "prefetch",
                lambda m, facts: software_prefetch.insert_software_prefetches(m, facts),
                _any_of(For, Allocate),
            ),
            Pass("past_caches", _past_caches, lambda there: there.only_loads_and_stores),
            Pass("rows_ahead", lambda m, _: strip_prefetch.insert_strip_prefetches(m), _rows),
            Pass("idle", lambda m, _: dead_code.eliminate_dead_declarations(m)),
        ),
        narrows=False,
    ),
    # for tests, and for who wants to compare: any kernel the way that is right for all
    "cpu-resumable": Target(
        "cpu-resumable",
        C,
        (*_ON_CPU, Pass("resumable", lambda m, _: in_steps.lower_to_coroutines(m))),
        narrows=False,
    ),
}
