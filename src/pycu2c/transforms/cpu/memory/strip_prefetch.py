"""CPU: rows of threads that read several rows of an array ask for their memory strip by strip.

``for j in threads(…) in lockstep: out[i, j] = a[i - 1, j] + a[i + 1, j]`` ->
``for j0 in range(…, strip): prefetch(a[i - 1, j0], 512, 64), …; for j in threads(j0, j0 + strip)``

Processors foresee where a few walks go, and of each no more than a page: a stencil over arrays that
do not fit the caches takes up to a fifth less time. Over smaller ones, a strip is all of the row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pycu2c.analysis.live_across_barriers import NameGenerator, fresh_names
from pycu2c.analysis.thread_strides import UnitStrideAccesses, is_simple_simd_loop
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import (
    Apply,
    AxisLoop,
    Binary,
    BlockLoop,
    Body,
    Const,
    Declare,
    Expr,
    For,
    Module,
    Select,
    Stmt,
    Var,
)
from pycu2c.ir.printer import print_expr
from pycu2c.ir.walk import bodies, map_stmt, rewrite, with_bodies
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.intrinsics.threads.cpu_block import launched
from pycu2c.ops.operators import ADD, LT, SUB
from pycu2c.transforms.cpu.memory.software_prefetch import (
    PrefetchStream,
    accesses,
    prefetch_statement,
)

_MOST_WALKS = 8
_STRIP = 256  # bytes of the widest array
_AHEAD = 2048  # bytes of it between what a strip takes and what it asks for
_LARGE = 1 << 21  # bytes of all arrays, from which on they leave the first caches


def insert_strip_prefetches(module: Module) -> Module:
    """Takes a kernel in loops along axes."""
    kernel = module.kernel
    fresh = fresh_names(kernel)

    def of(s: Stmt) -> Stmt:
        if isinstance(s, AxisLoop):
            return replace(s, body=map_stmt(s.body, lambda row: _in_strips(row, fresh)))
        return with_bodies(s, tuple(tuple(map(of, body)) for body in bodies(s)))

    body = tuple(of(s) if isinstance(s, BlockLoop) and s.in_rows else s for s in kernel.body)
    return replace(module, kernel=replace(kernel, body=body))


def _in_strips(s: Stmt, fresh: NameGenerator) -> Body:
    """The statement, or the strips that it becomes."""
    if not isinstance(s, AxisLoop) or not is_simple_simd_loop(s):
        return (s,)
    walks = _walks(s)
    return _strips(s, walks, fresh) if _is_stencil(walks) else (s,)


def _is_stencil(walks: Sequence[PrefetchStream]) -> bool:
    rows = Counter(walk.array.name for walk in walks if not walk.is_written)
    return len(walks) <= _MOST_WALKS and max(rows.values(), default=0) > 1


def _walks(row: AxisLoop) -> list[PrefetchStream]:
    """Where the threads of a row go from element to element, but for numbers added to the place:
    those walks meet in the same lines of memory."""
    walks, found = UnitStrideAccesses(row), dict[str, PrefetchStream]()
    for array, index, is_written in accesses(row.body):
        place = walks.unit_stride_index(index)
        if place is None:
            continue
        first = _without_numbers(place)
        shown = f"{array.name}[{print_expr(first)}]"
        is_written |= shown in found and found[shown].is_written
        found[shown] = PrefetchStream(array, first, is_written)
    return list(found.values())


def _without_numbers(e: Expr) -> Expr:
    """An index but for the numbers that are added to it."""
    match e:
        case Binary(op=op, left=left, right=Const()) if op in (ADD, SUB):
            return _without_numbers(left)
        case Binary(op=op, left=left, right=right) if op is ADD:
            return binary(ADD, _without_numbers(left), _without_numbers(right), e.span)
        case _:
            return e


def _strips(row: AxisLoop, walks: Sequence[PrefetchStream], fresh: NameGenerator) -> Body:
    span, own = row.span, row.var.name
    first, strip, end = (
        Var(fresh(name), WEAK_INT, span) for name in (f"{own}.first", "strip", "end")
    )
    widest = max(walk.bytes for walk in walks)
    least = _LARGE // sum({walk.array.name: walk.bytes for walk in walks}.values())
    is_small = binary(LT, Apply(launched, (), WEAK_INT, span), integer(least, span), span)
    whole, part = binary(SUB, end, row.start, span), integer(_STRIP // widest, span)
    length = Select(is_small, whole, part, WEAK_INT, span)
    stop = Apply(REGISTRY["min"], (binary(ADD, first, strip, span), end), WEAK_INT, span)

    def here(e: Expr) -> Expr:
        return first if isinstance(e, Var) and e.name == own else e

    ahead = integer(_AHEAD // widest, span)
    begun = (replace(walk, first=rewrite(walk.first, here)) for walk in walks)
    asked = tuple(prefetch_statement(walk, ahead, part) for walk in begun)
    inside = (*asked, replace(row, start=first, stop=stop))
    return (
        Declare(end, row.stop, span),
        Declare(strip, length, span),
        For(first, row.start, end, strip, inside, span),
    )
