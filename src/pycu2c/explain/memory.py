"""How threads use memory: strides between neighbours, local arrays that cannot be registers."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.diagnostics import Label
from pycu2c.explain.notes import Note
from pycu2c.explain.origins import counters, origins, pace
from pycu2c.ir.nodes import Const, Expr, For, Function, Load, Store, Var
from pycu2c.ir.walk import expressions, operands, statements
from pycu2c.source import Span
from pycu2c.types import Array, Space

_MOST_ROUNDS = 64  # of a loop that the compiler is likely to unroll


def accesses(function: Function) -> Iterator[tuple[Load | Store, Span]]:
    """Every element that a function reads or writes."""
    for s in statements(function.body):
        if isinstance(s, Store):
            yield s, s.span
        for e in operands(s):
            yield from ((x, x.span) for x in expressions(e) if isinstance(x, Load))


def strides(function: Function) -> Iterator[Note]:
    """``a[x, y]`` where x runs along the threads: neighbours are a row apart."""
    known = origins(function)
    for access, span in accesses(function):
        kind = access.array.type
        assert isinstance(kind, Array)
        if kind.space is not Space.GLOBAL or not access.indices:
            continue
        paces = [pace(index, known) for index in access.indices]
        name = access.array.name.split(".")[0]
        if any(p for p in paces[:-1]) and paces[-1] == 0 and kind.layout == "C":
            text = "neighbouring threads are rows apart here"
            cure = f"let x be the last index: {name}[y, x]; or go through a shared array"
            yield Note("stride", (Label(span, text),), cure)
        elif len(paces) == 1 and paces[0] is not None and abs(paces[0]) > 1:
            text = f"neighbouring threads are {abs(paces[0])} elements apart"
            cure = "let neighbours use neighbouring elements, or split the array into several"
            yield Note("stride", (Label(span, text),), cure)


def local_arrays(function: Function) -> Iterator[Note]:
    """An index that is not known when the loops are unrolled keeps an array out of registers."""
    loops = counters(function)
    seen: set[str] = set()
    for access, span in accesses(function):
        kind = access.array.type
        assert isinstance(kind, Array)
        if kind.space is not Space.LOCAL or access.array.name in seen:
            continue
        if all(_is_unrolled(index, loops) for index in access.indices):
            continue
        seen.add(access.array.name)
        cure = "index it with literals and counters of short loops alone, or use a shared array"
        yield Note("local-array", (Label(span, "this index is computed"),), cure)


def _is_unrolled(index: Expr, loops: dict[str, For]) -> bool:
    read = [e for e in expressions(index) if not isinstance(e, Const)]
    return all(_counts(e, loops) for e in read if isinstance(e, (Var, Load))) and not any(
        isinstance(e, Load) for e in read
    )


def _counts(e: Expr, loops: dict[str, For]) -> bool:
    """Whether a variable is the counter of a short loop with literal bounds."""
    loop = loops.get(e.name) if isinstance(e, Var) else None
    if loop is None or not all(isinstance(b, Const) for b in (loop.start, loop.stop, loop.step)):
        return False
    bounds = [int(b.value) for b in (loop.start, loop.stop, loop.step) if isinstance(b, Const)]
    return len(range(*bounds)) <= _MOST_ROUNDS
