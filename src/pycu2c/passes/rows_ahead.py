"""CPU: rows of threads that read several rows of an array ask for their memory strip by strip.

``for j in threads(…) in lockstep: out[i, j] = a[i - 1, j] + a[i + 1, j]`` ->
``for j0 in range(…, strip): prefetch(a[i - 1, j0], 512, 64), …; for j in threads(j0, j0 + strip)``

Processors foresee where a few walks go, and of each no more than a page: a stencil over arrays that
do not fit the caches takes up to a fifth less time. Over smaller ones, a strip is all of the row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pycu2c.intrinsics.block import launched
from pycu2c.intrinsics.registry import REGISTRY
from pycu2c.ir.construct import binary, integer
from pycu2c.ir.effects import names_in
from pycu2c.ir.nodes import (
    Apply,
    AxisLoop,
    Binary,
    BlockLoop,
    Body,
    Cast,
    Const,
    Declare,
    Expr,
    For,
    Module,
    Select,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.printer import print_expr
from pycu2c.ir.walk import bodies, expressions, map_stmt, rewrite, statements, with_bodies
from pycu2c.operators import ADD, LT, MUL, SUB
from pycu2c.passes.crossing import Fresh, fresh_names, set_in, set_once
from pycu2c.passes.lockstep import Paces
from pycu2c.passes.prefetch import Asked, accesses, asking
from pycu2c.records import replace
from pycu2c.types import WEAK_INT

_MOST_WALKS = 8
_STRIP = 256  # bytes of the widest array
_AHEAD = 2048  # bytes of it between what a strip takes and what it asks for
_LARGE = 1 << 21  # bytes of all arrays, from which on they leave the first caches


def ask_by_strips(module: Module) -> Module:
    """Takes a kernel in loops along axes."""
    kernel = module.kernel
    fresh = fresh_names(kernel)

    def of(s: Stmt) -> Stmt:
        if isinstance(s, AxisLoop):
            return replace(s, body=map_stmt(s.body, lambda row: _in_strips(row, fresh)))
        return with_bodies(s, tuple(tuple(map(of, body)) for body in bodies(s)))

    body = tuple(of(s) if isinstance(s, BlockLoop) and s.in_rows else s for s in kernel.body)
    return replace(module, kernel=replace(kernel, body=body))


def _in_strips(s: Stmt, fresh: Fresh) -> Body:
    """The statement, or the strips that it becomes."""
    match s:
        case AxisLoop(lockstep=True, step=Const(value=1)) if _is_short(s.body):
            walks = _walks(s)
            return _strips(s, walks, fresh) if _is_stencil(walks) else (s,)
        case _:
            return (s,)


def _is_short(body: Body) -> bool:
    """Whether a thread does so little that it waits for memory."""
    return not any(isinstance(s, For | While | AxisLoop) for s in statements(body))


def _is_stencil(walks: Sequence[Asked]) -> bool:
    rows = Counter(walk.array.name for walk in walks if not walk.is_written)
    return len(walks) <= _MOST_WALKS and max(rows.values(), default=0) > 1


def _walks(row: AxisLoop) -> list[Asked]:
    """Where the threads of a row go from element to element, but for numbers added to the place:
    those walks meet in the same lines of memory."""
    values, inside = set_once(row.body), set_in(row.body)
    paces = Paces(row.var.name, values, inside - values.keys())
    found: dict[str, Asked] = {}
    for array, index, is_written in accesses(row.body):
        first = _without_numbers(_computed(index, values))
        if paces.of(index) != 1 or inside & set(names_in(first)) or not _is_plain(first):
            continue
        shown = f"{array.name}[{print_expr(first)}]"
        is_written |= shown in found and found[shown].is_written
        found[shown] = Asked(array, first, is_written)
    return list(found.values())


def _computed(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression without the variables that stand for others."""

    def value(x: Expr) -> Expr:
        if isinstance(x, Var) and x.name in values:
            return _computed(values[x.name], values)
        return x

    return rewrite(e, value)


def _is_plain(e: Expr) -> bool:
    """Whether a place can be computed for threads that do not come to it: a load may be of what is
    beyond an array for them, a division by 0."""
    return all(
        isinstance(x, Var | Const | Cast) or (isinstance(x, Binary) and x.op in (ADD, SUB, MUL))
        for x in expressions(e)
    )


def _without_numbers(e: Expr) -> Expr:
    """An index but for the numbers that are added to it."""
    match e:
        case Binary(op=op, left=left, right=Const()) if op in (ADD, SUB):
            return _without_numbers(left)
        case Binary(op=op, left=left, right=right) if op is ADD:
            return binary(ADD, _without_numbers(left), _without_numbers(right), e.span)
        case _:
            return e


def _strips(row: AxisLoop, walks: Sequence[Asked], fresh: Fresh) -> Body:
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
    asked = tuple(asking(walk, ahead, part) for walk in begun)
    inside = (*asked, replace(row, start=first, stop=stop))
    return (
        Declare(end, row.stop, span),
        Declare(strip, length, span),
        For(first, row.start, end, strip, inside, span),
    )
