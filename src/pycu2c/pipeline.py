"""The whole compiler on one page: per target, the passes in order with their contracts.

``requires`` and ``produces`` are forms of the IR (``ir/forms.py``). A pass runs on a module that
has a form that it requires, if its condition ``when`` holds. A pass that does not run leaves the
form as it is: ``coroutines`` produces a form that the passes for work-item loops do not require.

``uses`` are the values that a pass is called with besides the module, in this order: launch
assumptions, and analyses, which are cached until a pass that does not preserve them changes what
they read.
"""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.records import dataclass
from pycu2c.codegen.dialect import CUDA, C, Dialect
from pycu2c.ir import nodes as ir
from pycu2c.ir.forms import (
    AXIS_LOOPS,
    C_SEMANTICS,
    COROUTINES,
    DECLARED,
    FLAT,
    ORDERED,
    TYPED,
    WORK_ITEM_LOOPS,
    IRForm,
)
from pycu2c.transforms.analyses import (
    ASSUMPTIONS,
    BLOCK_UNIFORMITY,
    EFFECTFUL,
    INDEX_RULES,
    NEEDS_COROUTINES,
    RANGES,
    STRIP_LOOPS,
    SUMMARY,
    UNIFORMITY,
    WEAK_FLOAT,
    Analyses,
    LoopSelector,
)
from pycu2c.transforms.common import (
    common_subexpressions,
    constant_types,
    dead_code,
    declare_variables,
    fix_short_axes,
    flatten_arrays,
    hoist_shared_arrays,
    inline,
    legalize,
    linearize,
    recognize_grid_index,
    select_inline_c,
    weak_floats,
)
from pycu2c.transforms.cpu import (
    fix_block_shape,
    inline_small_calls,
    narrow_conversions,
    pass_coordinates,
    positive_zeros,
)
from pycu2c.transforms.cpu.barriers import coroutines, lower_barriers
from pycu2c.transforms.cpu.fission import dead_lane_elimination, work_item_loops
from pycu2c.transforms.cpu.loops import (
    axis_loops,
    counted_loops,
    index_set_splitting,
    interchange,
    register_tiling,
    unroll_and_jam,
    unroll_loops,
    vectorize_thread_tiles,
)
from pycu2c.transforms.cpu.memory import (
    nontemporal_stores,
    plain_memory_operations,
    privatize_accumulators,
    silent_stores,
    software_prefetch,
)
from pycu2c.transforms.cpu.simd import narrow_integers_in_loops, scalar_replacement
from pycu2c.transforms.cpu.simd.divergent_loops import divergent_loops
from pycu2c.transforms.cuda import (
    fast_math,
    merge_live_ranges,
    narrow_integers,
    restrict_pointers,
    unroll_array_loops,
    vector_accesses,
    version_loops,
)
from pycu2c.transforms.pass_contract import Pass


@dataclass(frozen=True, slots=True)
class Target:
    """A language that kernels are compiled to."""

    name: str
    dialect: Dialect
    passes: tuple[Pass, ...]  # in the order in which they run
    narrow_ints: bool  # whether Python ints are 32-bit where they fit
    strip_mine: LoopSelector = divergent_loops

    def through(self, name: str) -> tuple[Pass, ...]:
        """Return the passes from the first to the one of this name."""
        last = next(i for i, p in enumerate(self.passes) if p.name == name)
        return self.passes[: last + 1]


# ---- conditions --------------------------------------------------------------------------------


def _any_of(*kinds: type[ir.Stmt | ir.Expr]) -> Callable[[Analyses], bool]:
    return lambda a: a.get(SUMMARY).any_of(*kinds)


def _has_device_functions(a: Analyses) -> bool:
    return a.get(SUMMARY).has_device_functions


def _has_memory_intrinsics(a: Analyses) -> bool:
    return a.get(SUMMARY).has_memory_intrinsics


def _uses_nontemporal_stores(a: Analyses) -> bool:
    return a.inputs.assumptions.exceeds_last_level_cache and a.get(SUMMARY).only_loads_and_stores


_has_loops = _any_of(ir.For, ir.While)


# ---- the passes --------------------------------------------------------------------------------


def _inline_c(dialect: str) -> Pass:
    def select(module: ir.Module) -> ir.Module:
        return select_inline_c.select_inline_c(module, dialect)

    return Pass("select_inline_c", select, (TYPED,), when=lambda a: a.get(SUMMARY).has_inline_c)


def _common_subexpressions(form: IRForm) -> Pass:
    return Pass(
        "common_subexpressions",
        common_subexpressions.share_subexpressions,
        (form,),
        preserves=(EFFECTFUL,),
    )


def _dead_declarations(*forms: IRForm) -> Pass:
    return Pass(
        "dead_declarations", dead_code.eliminate_dead_declarations, forms, uses=(EFFECTFUL,)
    )


# fmt: off
# the passes that build_module runs, for all targets
FRONTEND = (
    Pass("recognize_grid_index", recognize_grid_index.recognize_grid_index, (TYPED,)),
    Pass("weak_floats", weak_floats.narrow_weak_floats, (TYPED,), uses=(WEAK_FLOAT,),
         when=lambda a: a.inputs.options.weak_float is not None),
)
_LEGALIZATION = (
    Pass("legalize", legalize.legalize, (TYPED,), C_SEMANTICS, uses=(INDEX_RULES, RANGES)),
    Pass("constant_types", constant_types.convert_constants, (C_SEMANTICS,)),
)
_DEAD_CODE = (
    Pass("dead_code", dead_code.eliminate_dead_code, (ORDERED,),
         uses=(EFFECTFUL,), preserves=(EFFECTFUL,)),
)
_DECLARATIONS = (
    Pass("flatten_arrays", flatten_arrays.flatten, (ORDERED,), FLAT, uses=(INDEX_RULES,),
         preserves=(EFFECTFUL,)),
    Pass("declare_variables", declare_variables.declare, (FLAT,), DECLARED,
         preserves=(EFFECTFUL,)),
    Pass("fix_short_axes", fix_short_axes.fix_short_axes, (DECLARED,), uses=(ASSUMPTIONS,),
         preserves=(EFFECTFUL,)),
)

_CUDA = (
    _inline_c("cuda"),
    Pass("fast_math", fast_math.relax_nan_order, (TYPED,),
         when=lambda a: a.inputs.options.fastmath),
    Pass("version_loops", version_loops.version_loops, (TYPED,), uses=(INDEX_RULES, RANGES),
         when=_any_of(ir.For)),
    Pass("unroll_array_loops", unroll_array_loops.unroll_array_loops, (TYPED,), uses=(RANGES,),
         when=lambda a: a.get(SUMMARY).any_of(ir.Allocate) and _has_loops(a)),
    Pass("narrow_integers", narrow_integers.narrow, (TYPED,), uses=(INDEX_RULES, RANGES)),
    *_LEGALIZATION,
    Pass("vector_accesses", vector_accesses.combine, (C_SEMANTICS,),
         when=_any_of(ir.Pack, ir.Member)),
    Pass("merge_live_ranges", merge_live_ranges.merge_live_ranges, (C_SEMANTICS,)),
    Pass("linearize", linearize.linearize, (C_SEMANTICS,), ORDERED, uses=(EFFECTFUL,)),
    *_DEAD_CODE,
    *_DECLARATIONS,
    Pass("restrict_pointers", restrict_pointers.restrict_pointers, (DECLARED,),
         uses=(ASSUMPTIONS,)),
    _common_subexpressions(DECLARED),
    _dead_declarations(DECLARED),
)

# the code of one thread, in C
_CPU_THREAD = (
    _inline_c("c"),
    Pass("fix_block_shape", fix_block_shape.fix_block, (TYPED,), uses=(ASSUMPTIONS,)),
    Pass("hoist_shared_arrays", hoist_shared_arrays.hoist_shared_arrays, (TYPED,),
         when=_has_device_functions),
    Pass("inline_small_calls", inline_small_calls.inline_small_calls, (TYPED,),
         when=_has_device_functions),
    Pass("narrow_integers_in_loops", narrow_integers_in_loops.narrow_integers_in_loops, (TYPED,),
         uses=(INDEX_RULES, RANGES),
         when=lambda a: narrow_integers_in_loops.has_candidate_loops(a.module)),
    *_LEGALIZATION,
    Pass("narrow_conversions", narrow_conversions.narrow_conversions, (C_SEMANTICS,)),
    Pass("positive_zeros", positive_zeros.keep_positive_zeros, (C_SEMANTICS,)),
    Pass("scalar_replacement", scalar_replacement.replace_aggregates, (C_SEMANTICS,),
         when=_has_loops),
    Pass("linearize_blocks", linearize.linearize_blocks, (C_SEMANTICS,), ORDERED,
         uses=(EFFECTFUL,)),
    Pass("inline", inline.inline_block_level, (ORDERED,), when=_has_device_functions),
    Pass("plain_memory_operations", plain_memory_operations.use_plain_memory_operations,
         (ORDERED,), when=_has_memory_intrinsics),
    Pass("silent_stores", silent_stores.skip_silent_stores, (ORDERED,),
         when=_any_of(ir.If, ir.For, ir.While)),
    *_DEAD_CODE,
    Pass("lower_barriers", lower_barriers.lower_barriers, (ORDERED,), uses=(ASSUMPTIONS,),
         when=lambda a: a.get(SUMMARY).needs_cpu_lowering),
    *_DECLARATIONS,
)

# From the code of one thread to the code of a block. ``coroutines`` is for kernels whose threads
# may wait at different barriers; the others become work-item loops. ``loop_fission`` is several
# steps, as the IR between them is not valid: see its docstring.
_PARALLEL_REGIONS = (
    Pass("coroutines", coroutines.lower_to_coroutines, (DECLARED,), COROUTINES,
         when=lambda a: a.get(NEEDS_COROUTINES)),
    Pass("copy_parameters", work_item_loops.copy_parameters, (DECLARED,)),
    Pass("lane_counters", work_item_loops.use_while_loops, (DECLARED,), uses=(STRIP_LOOPS,)),
    Pass("lane_coordinates", work_item_loops.hoist_coordinates, (DECLARED,), uses=(STRIP_LOOPS,)),
    Pass("interchange", interchange.interchange_loops, (DECLARED,),
         uses=(ASSUMPTIONS, UNIFORMITY, EFFECTFUL), when=_any_of(ir.For)),
    Pass("loop_fission", work_item_loops.split_into_regions, (DECLARED,), WORK_ITEM_LOOPS,
         uses=(ASSUMPTIONS, STRIP_LOOPS, BLOCK_UNIFORMITY)),
)

# the loops of a block: their order, their bounds, their memory accesses
_BLOCK_LOOPS = (
    Pass("privatize_accumulators", privatize_accumulators.privatize_accumulators,
         (WORK_ITEM_LOOPS,), uses=(ASSUMPTIONS,), when=_has_memory_intrinsics),
    Pass("unroll_loops", unroll_loops.unroll_block_loops, (WORK_ITEM_LOOPS,),
         when=_any_of(ir.While)),
    Pass("dead_lane_elimination", dead_lane_elimination.eliminate_dead_lanes, (WORK_ITEM_LOOPS,),
         uses=(ASSUMPTIONS, EFFECTFUL), when=_any_of(ir.Allocate)),
    Pass("pass_coordinates", pass_coordinates.pass_coordinates, (WORK_ITEM_LOOPS, COROUTINES),
         preserves=(EFFECTFUL,), when=_has_device_functions),
    Pass("axis_loops", axis_loops.loop_over_axes, (WORK_ITEM_LOOPS,), AXIS_LOOPS,
         uses=(ASSUMPTIONS, EFFECTFUL)),
    Pass("index_set_splitting", index_set_splitting.split_index_sets, (AXIS_LOOPS,),
         uses=(ASSUMPTIONS,)),
    Pass("register_tiling", register_tiling.tile_registers, (AXIS_LOOPS,), when=_any_of(ir.For)),
    Pass("unroll_and_jam", unroll_and_jam.unroll_and_jam, (AXIS_LOOPS,), when=_any_of(ir.For)),
    Pass("vectorize_thread_tiles", vectorize_thread_tiles.vectorize_thread_tiles, (AXIS_LOOPS,),
         when=_any_of(ir.For)),
    Pass("software_prefetch", software_prefetch.insert_software_prefetches, (AXIS_LOOPS,),
         uses=(ASSUMPTIONS,), when=_any_of(ir.For, ir.Allocate)),
    Pass("nontemporal_stores", nontemporal_stores.use_nontemporal_stores, (AXIS_LOOPS,),
         when=_uses_nontemporal_stores),
    _common_subexpressions(AXIS_LOOPS),
    _dead_declarations(AXIS_LOOPS, COROUTINES),
)

_COUNTED_LOOPS = (
    Pass("counted_loops", counted_loops.convert_while_to_for, (DECLARED,), uses=(ASSUMPTIONS,),
         when=_any_of(ir.While)),
)
_COROUTINES = (Pass("coroutines", coroutines.lower_to_coroutines, (DECLARED,), COROUTINES),)

TARGETS: dict[str, Target] = {
    "cuda": Target("cuda", CUDA, _CUDA, narrow_ints=True),
    # CPUs vectorize loops with int64 counters better, so ints are narrowed in some loops only
    "cpu": Target("cpu", C, (*_CPU_THREAD, *_COUNTED_LOOPS, *_PARALLEL_REGIONS, *_BLOCK_LOOPS),
                  narrow_ints=False),
    # every kernel as coroutines, for tests and comparisons
    "cpu-resumable": Target("cpu-resumable", C, (*_CPU_THREAD, *_COROUTINES), narrow_ints=False),
}
# fmt: on
