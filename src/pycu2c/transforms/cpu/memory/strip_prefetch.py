"""Prefetch strip by strip in loops that read several rows of an array, such as stencils (CPU).

``for j in threads(…) in lockstep: out[i, j] = a[i - 1, j] + a[i + 1, j]`` -> ``for j0 in range(…,
strip): prefetch(a[i - 1, j0], distance, count), …; for j in threads(j0, j0 + strip)``

Hardware prefetchers follow a few streams, and each only within a page. A stencil over arrays that
exceed the caches is up to a fifth faster with this pass. For smaller arrays, a strip is the whole
row. Requires the form AXIS_LOOPS (``ir/forms.py``). Changes no values. Uses
``analysis.thread_strides``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pycu2c.analysis.thread_strides import UnitStrideAccesses, is_simple_simd_loop
from pycu2c.analysis.variables import NameGenerator, fresh_names
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.name_suffixes import FIRST
from pycu2c.ir.printer import print_expr
from pycu2c.ir.walk import map_bodies, map_stmt, rewrite, with_kernel_body
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.intrinsics.threads.cpu_block import launched_thread_count
from pycu2c.ops.operators import ADD, LT, SUB
from pycu2c.transforms.cpu.memory.software_prefetch import (
    PrefetchStream,
    accesses,
    prefetch_statement,
)

_MAX_STREAMS = 4  # with those of three dimensions, prefetching takes longer than it saves
_STRIP_BYTES = 256  # of the array with the largest elements
_PREFETCH_DISTANCE = 2048  # bytes between the accessed and the prefetched elements
_MIN_TOTAL_BYTES = 1 << 21  # smaller arrays stay in the second-level cache


def insert_strip_prefetches(module: ir.Module) -> ir.Module:
    """Insert prefetches into the axis loops of a kernel, which loops over rows of blocks have."""
    kernel = module.kernel
    fresh = fresh_names(kernel)

    def process(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.AxisLoop):
            return map_bodies(s, lambda rows: map_stmt(rows, lambda row: _process_row(row, fresh)))
        return map_bodies(s, lambda body: tuple(map(process, body)))

    body = tuple(
        process(s) if isinstance(s, ir.BlockLoop) and s.in_rows else s for s in kernel.body
    )
    return with_kernel_body(module, body)


def _process_row(s: ir.Stmt, fresh: NameGenerator) -> ir.Body:
    """Return a statement, or the loop over strips that replaces it."""
    if not isinstance(s, ir.AxisLoop) or not is_simple_simd_loop(s):
        return (s,)
    streams = _streams(s)
    return _strip_loop(s, streams, fresh) if _is_stencil(streams) else (s,)


def _is_stencil(streams: Sequence[PrefetchStream]) -> bool:
    row_counts = Counter(stream.array.name for stream in streams if not stream.is_written)
    return len(streams) <= _MAX_STREAMS and max(row_counts.values(), default=0) > 1


def _streams(loop: ir.AxisLoop) -> list[PrefetchStream]:
    """Return the unit-stride streams of a loop; accesses that differ by a constant share one."""
    unit_stride, streams = UnitStrideAccesses(loop), dict[str, PrefetchStream]()
    for array, index, is_written in accesses(loop.body):
        lane_index = unit_stride.unit_stride_index(index)
        if lane_index is None:
            continue
        first = _without_constants(lane_index)
        key = f"{array.name}[{print_expr(first)}]"
        is_written |= key in streams and streams[key].is_written
        streams[key] = PrefetchStream(array, first, is_written)
    return list(streams.values())


def _without_constants(e: ir.Expr) -> ir.Expr:
    """Return an index without the constants added to it."""
    match e:
        case ir.Binary(op=op, left=left, right=ir.Const()) if op in (ADD, SUB):
            return _without_constants(left)
        case ir.Binary(op=op, left=left, right=right) if op is ADD:
            return binary(ADD, _without_constants(left), _without_constants(right), e.span)
        case _:
            return e


def _strip_loop(
    loop: ir.AxisLoop, streams: Sequence[PrefetchStream], fresh: NameGenerator
) -> ir.Body:
    span, loop_variable = loop.span, loop.var.name
    first, strip, end = (
        ir.Var(fresh(name), WEAK_INT, span) for name in (f"{loop_variable}.{FIRST}", "strip", "end")
    )
    max_element_size = max(stream.element_size for stream in streams)
    min_elements = _MIN_TOTAL_BYTES // sum(
        {stream.array.name: stream.element_size for stream in streams}.values()
    )
    is_small = binary(
        LT, ir.Apply(launched_thread_count, (), WEAK_INT, span), integer(min_elements, span), span
    )
    all_elements = binary(SUB, end, loop.start, span)
    strip_elements = integer(_STRIP_BYTES // max_element_size, span)
    length = ir.Select(is_small, all_elements, strip_elements, WEAK_INT, span)
    stop = ir.Apply(REGISTRY["min"], (binary(ADD, first, strip, span), end), WEAK_INT, span)

    def substitute_first(e: ir.Expr) -> ir.Expr:
        return first if isinstance(e, ir.Var) and e.name == loop_variable else e

    distance = integer(_PREFETCH_DISTANCE // max_element_size, span)
    strip_streams = (
        replace(stream, first=rewrite(stream.first, substitute_first)) for stream in streams
    )
    prefetches = tuple(
        prefetch_statement(stream, distance, strip_elements) for stream in strip_streams
    )
    body = (*prefetches, replace(loop, start=first, stop=stop))
    return (
        ir.Declare(end, loop.stop, span),
        ir.Declare(strip, length, span),
        ir.For(first, loop.start, end, strip, body, span),
    )
