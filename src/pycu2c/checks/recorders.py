"""Build the device functions in the kernel language that instrumented functions call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from types import FunctionType
from typing import cast

from pycu2c.base.records import replace
from pycu2c.base.source import source_of
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, ParameterType, Tuple, uint64
from pycu2c.checks.context import FINDINGS_TYPE, OWN_COUNT_TYPE, record_name
from pycu2c.checks.device_functions import (
    barrier_memory,
    happens_before,
    lane_clocks,
    recording,
    rendezvous,
    shadow_memory,
    shadow_words,
    warp_memory,
)
from pycu2c.checks.shadow_arrays import CLOCK, FLAGS, OF_BLOCK, ORDER, ROWS_OF_BLOCK
from pycu2c.frontend.function_builder import build_device
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, map_expr

_ARRIVALS = Array(uint64.dtype, 3, "C")
_WORDS = Array(uint64.dtype, 1, "C")
_CLOCK, _ORDER = cast(Array, CLOCK.type), (cast(Array, ORDER.var.type), OF_BLOCK)
_SHADOW_FUNCTIONS: dict[str, tuple[object, tuple[ParameterType, ...]]] = {
    "start_clock.check": (shadow_memory.start_clock, (_CLOCK, Tuple(()))),
    "start_ordered.check": (shadow_memory.start_clock, (_CLOCK, Tuple(_ORDER))),
    "block_of_rank.check": (shadow_words.block_of_rank, (WEAK_INT, Tuple((WEAK_INT,) * 3))),
    "pass_barrier.check": (shadow_memory.pass_barrier, (_CLOCK,)),
    "pass_warp_operation.check": (shadow_memory.pass_warp_operation, (_CLOCK,)),
    "start_lanes.check": (lane_clocks.start_lanes, (ROWS_OF_BLOCK, _CLOCK)),
    "join_lanes.check": (lane_clocks.join_lanes, (ROWS_OF_BLOCK, _CLOCK, WEAK_INT)),
    "pass_lanes.check": (lane_clocks.pass_lanes, (ROWS_OF_BLOCK, _CLOCK)),
    "clear_lanes.check": (lane_clocks.clear_lanes, (ROWS_OF_BLOCK, _CLOCK)),
    "skip_lane.check": (lane_clocks.skip_lane, (ROWS_OF_BLOCK, _CLOCK, uint64)),
    "reach_lanes.check": (lane_clocks.reach_lanes, (_CLOCK, uint64)),
    "lane_that_skips.check": (
        lane_clocks.lane_that_skips,
        (ROWS_OF_BLOCK, _CLOCK, WEAK_INT, WEAK_INT, uint64),
    ),
    "end_lane.check": (lane_clocks.end_lane, (ROWS_OF_BLOCK, _CLOCK)),
    "value_bits.check": (shadow_memory.value_bits, (uint64,)),
    "shadow_barrier.check": (
        barrier_memory.shadow_barrier,
        (ROWS_OF_BLOCK, uint64, uint64, _CLOCK),
    ),
    "skip_barriers.check": (barrier_memory.skip_barriers, (_CLOCK, uint64)),
    "leave_loop.check": (barrier_memory.leave_loop, (_CLOCK, uint64)),
    "names_lane.check": (warp_memory.names_lane, (WEAK_INT,)),
    "absent_lane.check": (warp_memory.absent_lane, (*(WEAK_INT,) * 4, WEAK_BOOL)),
    "go_on.check": (barrier_memory.go_on, (_CLOCK, uint64)),
    "end_thread.check": (barrier_memory.end_thread, (FINDINGS_TYPE, ROWS_OF_BLOCK, _CLOCK, uint64)),
    "reach_grid_barrier.check": (barrier_memory.reach_grid_barrier, (_CLOCK, uint64)),
    "end_in_grid.check": (barrier_memory.end_in_grid, (FINDINGS_TYPE, _WORDS, _CLOCK)),
    "flags_read.check": (shadow_memory.flags_read, (FLAGS, uint64)),
    "flags_write.check": (shadow_memory.flags_write, (FLAGS,)),
    "synchronize_unknown.check": (happens_before.synchronize_unknown, (_CLOCK, *_ORDER, uint64)),
    "pass_fence.check": (happens_before.pass_fence, (_CLOCK, *_ORDER, uint64)),
    "pass_grid_barrier.check": (happens_before.pass_grid_barrier, (_CLOCK, *_ORDER)),
    "reach_cluster_barrier.check": (happens_before.reach_cluster_barrier, (_CLOCK, *_ORDER)),
    "pass_cluster_barrier.check": (
        happens_before.pass_cluster_barrier,
        (_CLOCK, *_ORDER, Tuple((WEAK_INT,) * 3)),
    ),
    # on a GPU
    "record_end.check": (rendezvous.record_end, (_ARRIVALS,)),
    "loop_state.check": (rendezvous.loop_state, (FINDINGS_TYPE, WEAK_INT)),
    "wait_for_block.check": (rendezvous.wait_for_block, (FINDINGS_TYPE, _ARRIVALS, WEAK_INT)),
    "wait_for_grid.check": (rendezvous.wait_for_grid, (FINDINGS_TYPE, _ARRIVALS, WEAK_INT)),
    "wait_for_cluster.check": (
        rendezvous.wait_for_cluster,
        (FINDINGS_TYPE, _ARRIVALS, WEAK_INT, WEAK_INT, WEAK_INT, WEAK_INT),
    ),
    "wait_for_lanes.check": (rendezvous.wait_for_lanes, (FINDINGS_TYPE, _ARRIVALS, WEAK_INT)),
}


def _access_functions() -> Iterator[tuple[str, tuple[object, tuple[ParameterType, ...]]]]:
    """Yield the functions that record accesses in a shadow, by name, with their parameters.

    ``ordered``: in kernels with fences, or barriers of the grid or the cluster. ``of_block``: of
    memory that only the threads of one block access.
    """
    functions = (
        ("read", shadow_memory.shadow_read, (WEAK_INT, uint64, _CLOCK)),
        ("write", shadow_memory.shadow_write, (WEAK_INT, uint64, _CLOCK)),
        ("read_cells", shadow_memory.shadow_read_cells, (uint64, _CLOCK, uint64)),
        ("write_cells", shadow_memory.shadow_write_cells, (uint64, _CLOCK)),
    )
    orders = ("shadow", Tuple(())), ("ordered", Tuple(_ORDER))
    for suffix, words in ("", _WORDS), (".of_block", OF_BLOCK):
        for (name, function, types), (kind, order) in product(functions, orders):
            yield f"{kind}_{name}{suffix}.check", (function, (words, *types, order))
        synchronize = happens_before.synchronize_element, (words, _CLOCK, *_ORDER, uint64)
        yield f"synchronize_element{suffix}.check", synchronize


_SHADOW_FUNCTIONS.update(_access_functions())


def added_functions(functions: Sequence[ir.Function]) -> Iterator[ir.Function]:
    """Yield the device functions that instrumented functions call, callees first."""
    called = {
        e.function for f in functions for e in all_expressions(f.body) if isinstance(e, ir.Call)
    }
    names: set[str] = set()
    for name in sorted(called):
        for function in _functions(name):
            if function.name not in names:
                names.add(function.name)
                yield function


@cache
def _functions(name: str) -> tuple[ir.Function, ...]:
    """Return an added function and what it calls; nothing if it is none."""
    if name in _SHADOW_FUNCTIONS:
        return _built(name, *_SHADOW_FUNCTIONS[name])
    for count in range(recording.MAX_VALUES + 1):
        if name == record_name(count):
            values = Tuple((WEAK_INT,) * count)
            return _built(name, recording.record, (FINDINGS_TYPE, OWN_COUNT_TYPE, WEAK_INT, values))
    return ()


def _built(
    name: str, function: object, types: tuple[ParameterType, ...]
) -> tuple[ir.Function, ...]:
    module, _ = build_device(source_of(cast(FunctionType, function)), types)
    suffix = name[name.index(".") :]

    def renamed(e: ir.Expr) -> ir.Expr:
        return replace(e, function=e.function + suffix) if isinstance(e, ir.Call) else e

    *devices, kernel = (replace(f, body=map_expr(f.body, renamed)) for f in module.functions)
    return *(replace(f, name=f.name + suffix) for f in devices), replace(kernel, name=name)
