"""Use non-temporal stores for arrays that a large launch only writes (CPU).

  ``for i in threads(begin, end) in lockstep: out[i] = e`` ->
  ``for line in range(begin - cache_line_offset(out[begin]), end, 256):``
  ``    first, last = max(line, begin), min(line + 256, end)``
  ``    for i in threads(first, last) in lockstep: out_line[i - line] = e``
  ``    nontemporal_store(out[first], out_line[first - line], last - first)``

A normal store first reads the cache line (write-allocate). Streaming stores of whole lines avoid
this traffic, a quarter of what saxpy transfers. The data is not in a cache afterwards, so the pass
applies only to launches that exceed the last-level cache.
"""

from __future__ import annotations

from pycu2c.analysis.effects import accessed_names
from pycu2c.analysis.live_across_barriers import NameGenerator, fresh_names
from pycu2c.analysis.thread_strides import UnitStrideAccesses, is_simple_simd_loop
from pycu2c.base.records import replace
from pycu2c.base.types import VOID, WEAK_INT, Array, MemorySpace
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    AxisLoop,
    BlockLoop,
    Body,
    Declare,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Load,
    Module,
    NextWorkItem,
    Stmt,
    Store,
    Var,
)
from pycu2c.ir.walk import map_stmt, rewrite, statements
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.intrinsics.threads.cpu_block import (
    cache_line_offset,
    nontemporal_fence,
    nontemporal_store,
)
from pycu2c.ops.operators import ADD, SUB
from pycu2c.transforms.cpu.memory.software_prefetch import is_contiguous_argument

_BUFFER_BYTES = 1024  # collected before they are written


def use_nontemporal_stores(module: Module) -> Module:
    """Buffer and stream stores; requires axis loops whose threads only compute, load and store."""
    kernel, body = module.kernel, list[Stmt]()
    fresh = fresh_names(kernel)
    for s in kernel.body:
        body += _rewrite_loop(s, fresh) if isinstance(s, BlockLoop) and s.in_rows else (s,)
    return replace(module, kernel=replace(kernel, body=tuple(body)))


def _rewrite_loop(loop: BlockLoop, fresh: NameGenerator) -> Body:
    buffers: list[Stmt] = []
    body = map_stmt(loop.body, lambda s: _buffer_store(s, buffers, fresh))
    fence = Evaluate(Apply(nontemporal_fence, (), VOID, loop.span), loop.span)
    return (*buffers, replace(loop, body=body), fence) if buffers else (loop,)


def _buffer_store(s: Stmt, buffers: list[Stmt], fresh: NameGenerator) -> Body:
    """Return a statement or its replacement; ``buffers`` collects the arrays that it needs."""
    if not isinstance(s, AxisLoop) or not is_simple_simd_loop(s) or not s.body:
        return (s,)
    store = s.body[-1]
    if not isinstance(store, Store):
        return (s,)
    index = (
        UnitStrideAccesses(s).unit_stride_index(store.indices[0])
        if _is_only_access(store, s.body)
        else None
    )
    if index is None:
        return (s,)
    assert isinstance(store.array.type, Array)
    dtype = store.array.type.dtype
    kind = Array(dtype, 1, "C", MemorySpace.LOCAL, (_BUFFER_BYTES // dtype.size,))
    buffer = Var(fresh(f"{store.array.name}_line"), kind, s.span)
    buffers.append(Allocate(buffer, s.span))
    return _store_by_lines(s, store, index, buffer, fresh)


def _is_only_access(store: Store, body: Body) -> bool:
    """Return whether all threads execute a store that is the only access to its array.

    The array must be a contiguous argument.
    """
    other_code = (*body[:-1], Evaluate(store.value, store.span))
    if any(isinstance(s, NextWorkItem) for s in statements(other_code)):
        return False
    return (
        is_contiguous_argument(store.array)
        and not store.path
        and store.array.name not in accessed_names(other_code)
    )


def _store_by_lines(
    loop: AxisLoop, store: Store, index: Expr, buffer: Var, fresh: NameGenerator
) -> Body:
    """Run the threads in chunks of one buffer each."""
    span, loop_variable = loop.span, loop.var.name
    begin, end, base, first, last = (
        Var(fresh(name), WEAK_INT, span) for name in ("begin", "end", "line", "first", "last")
    )
    assert isinstance(buffer.type, Array)
    assert buffer.type.shape is not None
    length = integer(buffer.type.shape[0], span)

    def index_of(thread: Var) -> Expr:
        """Return the element index of a thread."""
        return rewrite(
            index, lambda e: thread if isinstance(e, Var) and e.name == loop_variable else e
        )

    def integer_call(intrinsic: Intrinsic, *arguments: Expr) -> Expr:
        return Apply(intrinsic, arguments, WEAK_INT, span)

    def subtract(a: Expr, b: Expr) -> Expr:
        return binary(SUB, a, b, span)

    before = integer_call(cache_line_offset, Load(store.array, (index_of(begin),), span))
    buffered_store = replace(store, array=buffer, indices=(subtract(loop.var, base),))
    destination = ElementOf(store.array, (index_of(first),), span)
    flush = Apply(
        nontemporal_store,
        (destination, Load(buffer, (subtract(first, base),), span), subtract(last, first)),
        VOID,
        span,
    )
    line_body = (
        Declare(first, integer_call(REGISTRY["max"], base, begin), span),
        Declare(last, integer_call(REGISTRY["min"], binary(ADD, base, length, span), end), span),
        replace(loop, start=first, stop=last, body=(*loop.body[:-1], buffered_store)),
        Evaluate(flush, span),
    )
    return (
        Declare(begin, loop.start, span),
        Declare(end, loop.stop, span),
        For(base, subtract(begin, before), end, length, line_body, span),
    )
