"""CPU: a launch that writes more than caches hold writes past them.

``for i in threads(begin, end) in lockstep: out[i] = e`` ->
``for line in range(begin - elements_before(out[begin]), end, 256):``
``    first, last = max(line, begin), min(line + 256, end)``
``    for i in threads(first, last) in lockstep: out_line[i - line] = e``
``    write_past(out[first], out_line[first - line], last - first)``

Processors read a line of memory before they change a part of it. Lines that are written as a whole
need not be read, if they are not kept: of what saxpy moves, that is a quarter. What comes next then
finds them in memory, and not in a cache, so that this is for launches that no cache holds.
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
from pycu2c.ops.intrinsics.threads.cpu_block import elements_before, write_past, written_past
from pycu2c.ops.operators import ADD, SUB
from pycu2c.transforms.cpu.memory.software_prefetch import is_contiguous_argument

_BYTES = 1024  # that are collected before they are written


def use_nontemporal_stores(module: Module) -> Module:
    """Takes a kernel in loops along axes, whose threads only compute, load and store."""
    kernel, body = module.kernel, list[Stmt]()
    fresh = fresh_names(kernel)
    for s in kernel.body:
        body += _in_rows(s, fresh) if isinstance(s, BlockLoop) and s.in_rows else (s,)
    return replace(module, kernel=replace(kernel, body=tuple(body)))


def _in_rows(loop: BlockLoop, fresh: NameGenerator) -> Body:
    kept: list[Stmt] = []
    body = map_stmt(loop.body, lambda s: _collected(s, kept, fresh))
    ended = Evaluate(Apply(written_past, (), VOID, loop.span), loop.span)
    return (*kept, replace(loop, body=body), ended) if kept else (loop,)


def _collected(s: Stmt, kept: list[Stmt], fresh: NameGenerator) -> Body:
    """A statement, or what it becomes; the arrays that it then needs go to ``kept``."""
    if not isinstance(s, AxisLoop) or not is_simple_simd_loop(s) or not s.body:
        return (s,)
    store = s.body[-1]
    if not isinstance(store, Store):
        return (s,)
    place = (
        UnitStrideAccesses(s).unit_stride_index(store.indices[0])
        if _is_all_of_array(store, s.body)
        else None
    )
    if place is None:
        return (s,)
    assert isinstance(store.array.type, Array)
    dtype = store.array.type.dtype
    kind = Array(dtype, 1, "C", MemorySpace.LOCAL, (_BYTES // dtype.size,))
    line = Var(fresh(f"{store.array.name}_line"), kind, s.span)
    kept.append(Allocate(line, s.span))
    return _in_lines(s, store, place, line, fresh)


def _is_all_of_array(store: Store, body: Body) -> bool:
    """Whether all threads of a row come to a store, and do nothing else with the array, an argument
    whose elements are neighbours: what they read is in a cache by then."""
    rest = (*body[:-1], Evaluate(store.value, store.span))
    if any(isinstance(s, NextWorkItem) for s in statements(rest)):
        return False
    return (
        is_contiguous_argument(store.array)
        and not store.path
        and store.array.name not in accessed_names(rest)
    )


def _in_lines(row: AxisLoop, store: Store, place: Expr, line: Var, fresh: NameGenerator) -> Body:
    """The threads of a row, as many at a time as a line takes."""
    span, own = row.span, row.var.name
    begin, end, base, first, last = (
        Var(fresh(name), WEAK_INT, span) for name in ("begin", "end", "line", "first", "last")
    )
    assert isinstance(line.type, Array)
    assert line.type.shape is not None
    length = integer(line.type.shape[0], span)

    def at(thread: Var) -> Expr:
        """The place of a thread."""
        return rewrite(place, lambda e: thread if isinstance(e, Var) and e.name == own else e)

    def call(row: Intrinsic, *arguments: Expr) -> Expr:
        return Apply(row, arguments, WEAK_INT, span)

    def less(a: Expr, b: Expr) -> Expr:
        return binary(SUB, a, b, span)

    before = call(elements_before, Load(store.array, (at(begin),), span))
    collected = replace(store, array=line, indices=(less(row.var, base),))
    here = ElementOf(store.array, (at(first),), span)
    written = Apply(
        write_past, (here, Load(line, (less(first, base),), span), less(last, first)), VOID, span
    )
    inside = (
        Declare(first, call(REGISTRY["max"], base, begin), span),
        Declare(last, call(REGISTRY["min"], binary(ADD, base, length, span), end), span),
        replace(row, start=first, stop=last, body=(*row.body[:-1], collected)),
        Evaluate(written, span),
    )
    return (
        Declare(begin, row.start, span),
        Declare(end, row.stop, span),
        For(base, less(begin, before), end, length, inside, span),
    )
