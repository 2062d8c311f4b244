"""Use non-temporal stores for arrays that a large launch only writes (CPU).

  ``for i in threads(begin, end) in lockstep: out[i] = e`` ->
  ``for line in range(begin - cache_line_offset(out[begin]), end, 256):``
  ``    first, last = max(line, begin), min(line + 256, end)``
  ``    for i in threads(first, last) in lockstep: out_line[i - line] = e``
  ``    nontemporal_store(out[first], out_line[first - line], last - first)``

A normal store first reads the cache line (write-allocate). Streaming stores of whole lines avoid
this traffic, a quarter of what saxpy transfers. The data is not in a cache afterwards, so the pass
applies only to launches that exceed the last-level cache. Requires the form AXIS_LOOPS
(``ir/forms.py``), with loops whose threads only compute, load and store. Guarantees a fence after
the stores. Reference: Intel 64 and IA-32 Optimization Reference Manual, streaming stores.
"""

from __future__ import annotations

from pycu2c.analysis.effects import is_speculatable
from pycu2c.analysis.simd_legality import LaneStrides
from pycu2c.analysis.variables import (
    NameGenerator,
    accessed_names,
    defined_names,
    fresh_names,
    names_in,
    single_definitions,
)
from pycu2c.base.records import replace
from pycu2c.base.types import VOID, WEAK_INT, Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.walk import contains, map_stmt, rewrite, with_kernel_body
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.intrinsics.threads.cpu_block import (
    cache_line_offset,
    nontemporal_fence,
    nontemporal_store,
)
from pycu2c.ops.operators import ADD, SUB
from pycu2c.transforms.cpu.memory.software_prefetch import is_contiguous_argument

_BUFFER_BYTES = 1024  # size of the buffer that collects elements before they are streamed


def use_nontemporal_stores(module: ir.Module) -> ir.Module:
    """Buffer and stream stores; requires axis loops whose threads only compute, load and store."""
    kernel, body = module.kernel, list[ir.Stmt]()
    fresh = fresh_names(kernel)
    for s in kernel.body:
        body += _rewrite_loop(s, fresh) if isinstance(s, ir.BlockLoop) and s.in_rows else (s,)
    return with_kernel_body(module, tuple(body))


def _rewrite_loop(loop: ir.BlockLoop, fresh: NameGenerator) -> ir.Body:
    buffers: list[ir.Stmt] = []
    body = map_stmt(loop.body, lambda s: _buffer_store(s, buffers, fresh))
    fence = ir.Evaluate(ir.Apply(nontemporal_fence, (), VOID, loop.span), loop.span)
    return (*buffers, replace(loop, body=body), fence) if buffers else (loop,)


def _buffer_store(s: ir.Stmt, buffers: list[ir.Stmt], fresh: NameGenerator) -> ir.Body:
    """Return a statement or its replacement; ``buffers`` collects the arrays that it needs."""
    if not isinstance(s, ir.AxisLoop) or not _is_simple_simd_loop(s) or not s.body:
        return (s,)
    store = s.body[-1]
    if not isinstance(store, ir.Store):
        return (s,)
    index = _unit_stride_index(s, store.indices[0]) if _is_only_access(store, s.body) else None
    if index is None:
        return (s,)
    assert isinstance(store.array.type, Array)
    dtype = store.array.type.dtype
    buffer_type = Array(dtype, 1, "C", MemorySpace.LOCAL, (_BUFFER_BYTES // dtype.size,))
    buffer = ir.Var(fresh(f"{store.array.name}_line"), buffer_type, s.span)
    buffers.append(ir.Allocate(buffer, s.span))
    return _store_by_lines(s, store, index, buffer, fresh)


def _is_simple_simd_loop(loop: ir.AxisLoop) -> bool:
    """Return whether a loop is dense, in lockstep, and has no nested loops: it is memory-bound."""
    has_no_loops = not contains(loop.body, ir.For | ir.While | ir.AxisLoop)
    is_dense = isinstance(loop.step, ir.Const) and loop.step.value == 1
    return loop.lockstep and is_dense and has_no_loops


def _unit_stride_index(loop: ir.AxisLoop, index: ir.Expr) -> ir.Expr | None:
    """Return an index of consecutive threads with consecutive elements, or None.

    It reads only the loop variable and values defined outside the loop.
    """
    values, local_names = single_definitions(loop.body), defined_names(loop.body)

    def substitute(e: ir.Expr) -> ir.Expr:
        """Replace a variable defined in the loop by its value."""
        if isinstance(e, ir.Var) and e.name in values:
            return rewrite(values[e.name], substitute)
        return e

    expanded = rewrite(index, substitute)
    if not local_names.isdisjoint(names_in(expanded)) or not is_speculatable(expanded):
        return None
    strides = LaneStrides(loop.var.name, values, local_names - values.keys())
    return expanded if strides.of(index) == 1 else None


def _is_only_access(store: ir.Store, body: ir.Body) -> bool:
    """Return whether all threads execute a store that is the only access to its array.

    The array must be a contiguous argument.
    """
    other_code = (*body[:-1], ir.Evaluate(store.value, store.span))
    if contains(other_code, ir.NextWorkItem):
        return False
    return (
        is_contiguous_argument(store.array)
        and not store.path
        and store.array.name not in accessed_names(other_code)
    )


def _store_by_lines(
    loop: ir.AxisLoop, store: ir.Store, index: ir.Expr, buffer: ir.Var, fresh: NameGenerator
) -> ir.Body:
    """Run the threads in chunks of one buffer each."""
    span, loop_variable = loop.span, loop.var.name
    begin, end, base, first, last = (
        ir.Var(fresh(name), WEAK_INT, span) for name in ("begin", "end", "line", "first", "last")
    )
    assert isinstance(buffer.type, Array)
    assert buffer.type.shape is not None
    length = integer(buffer.type.shape[0], span)

    def index_of(thread: ir.Var) -> ir.Expr:
        """Return the element index of a thread."""
        return rewrite(
            index, lambda e: thread if isinstance(e, ir.Var) and e.name == loop_variable else e
        )

    def integer_call(intrinsic: Intrinsic, *arguments: ir.Expr) -> ir.Expr:
        return ir.Apply(intrinsic, arguments, WEAK_INT, span)

    def subtract(a: ir.Expr, b: ir.Expr) -> ir.Expr:
        return binary(SUB, a, b, span)

    offset = integer_call(cache_line_offset, ir.Load(store.array, (index_of(begin),), span))
    buffered_store = replace(store, array=buffer, indices=(subtract(loop.var, base),))
    destination = ir.ElementOf(store.array, (index_of(first),), span)
    flush = ir.Apply(
        nontemporal_store,
        (destination, ir.Load(buffer, (subtract(first, base),), span), subtract(last, first)),
        VOID,
        span,
    )
    line_body = (
        ir.Declare(first, integer_call(REGISTRY["max"], base, begin), span),
        ir.Declare(last, integer_call(REGISTRY["min"], binary(ADD, base, length, span), end), span),
        replace(loop, start=first, stop=last, body=(*loop.body[:-1], buffered_store)),
        ir.Evaluate(flush, span),
    )
    return (
        ir.Declare(begin, loop.start, span),
        ir.Declare(end, loop.stop, span),
        ir.For(base, subtract(begin, offset), end, length, line_body, span),
    )
