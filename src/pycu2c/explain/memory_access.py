"""Find inefficient memory access: strides, bank conflicts, local arrays outside registers."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, prod

from pycu2c.base.diagnostics import Label
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace
from pycu2c.explain.index_strides import IndexStrides, LaneStride, UniformStride, lane_strides
from pycu2c.explain.notes import Note
from pycu2c.explain.value_origins import ExplainedFunction, loops_by_counter, source_name
from pycu2c.ir.nodes import Const, ElementOf, Expr, For, Function, Load, Store, Var
from pycu2c.ir.walk import expressions, operands, statements

_MOST_ROUNDS = 64  # iterations of a loop that the compiler is likely to unroll
_BANKED = 128  # bytes that all banks of shared memory provide at once


def accesses(function: Function) -> Iterator[tuple[Load | Store | ElementOf, Array, Span]]:
    """Yield every element that a function reads or writes."""
    for s in statements(function.body):
        if isinstance(s, Store):
            assert isinstance(s.array.type, Array)
            yield s, s.array.type, s.span
        for e in operands(s):
            for x in expressions(e):
                if isinstance(x, (Load, ElementOf)):
                    assert isinstance(x.array.type, Array)
                    yield x, x.array.type, x.span


def find_strided_access(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield strided access: ``a[x, y]`` where x is the coordinate of consecutive threads."""
    strides = lane_strides(subject)
    for access, kind, span in accesses(subject.function):
        if kind.space is not MemorySpace.GLOBAL or not access.indices:
            continue
        name = source_name(access.array.name)
        distance = _distance([strides.of(i) for i in access.indices], name, kind)
        if distance:
            text = f"neighbouring threads are {distance} elements apart"
            hint = _nearer(access.indices, strides, name)
            yield Note("stride", (Label(span, text),), hint, f"{name}: {distance}")


def _distance(along: list[LaneStride], name: str, kind: Array) -> str:
    """Return the stride between neighbours; empty if it is at most 1, or unknown."""
    moving = next((axis for axis, p in enumerate(along) if p != 0), None)
    if moving is None or None in along or (len(along) > 1 and kind.layout != "C"):
        return ""
    factors = [f"{name}.shape[{axis}]" for axis in range(moving + 1, len(along))]
    match along[moving]:
        case UniformStride(text):
            factors = [f"`{text}`" if text else "many", *factors]
        case int(step) if abs(step) > 1:
            factors = [str(abs(step)), *factors]
        case _:
            pass
    return " * ".join(factors)


def _nearer(indices: tuple[Expr, ...], strides: IndexStrides, name: str) -> str:
    if len(indices) == 1:
        return "let neighbours use neighbouring elements, or split the array into several"
    if strides.runs_along_others(indices[-1]):
        return f"let x run along the last axis: `x, y = cuda.grid(2)`, {name}[y, x]"
    return f"let x run along the last axis: transpose {name}, or go through a shared array"


def find_bank_conflicts(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield bank conflicts: ``tile[x, y]`` of a shared array whose rows start in one bank."""
    strides = lane_strides(subject)
    for access, kind, span in accesses(subject.function):
        if kind.space is not MemorySpace.SHARED or kind.shape is None:
            continue
        sizes = [prod(kind.shape[axis + 1 :]) for axis in range(kind.ndim)]
        along = [strides.of(i) for i in access.indices]
        steps = [p * size for p, size in zip(along, sizes) if isinstance(p, int)]
        if len(steps) < kind.ndim or kind.dtype.size < 4:
            continue
        ways = gcd(sum(steps), _BANKED // kind.dtype.size)
        if sum(steps) and ways > 1:
            name = source_name(access.array.name)
            text = (
                f"threads that are {_BANKED // kind.dtype.size // ways} apart have a bank conflict"
            )
            yield Note("bank", (Label(span, text),), _spread(kind, steps), name)


def _spread(kind: Array, steps: list[int]) -> str:
    assert kind.shape is not None
    if kind.ndim == 1 or steps[-1]:
        return "let neighbours use neighbouring elements"
    shape = ", ".join(map(str, (*kind.shape[:-1], kind.shape[-1] + 1)))
    return f"make the rows longer by one: cuda.shared.array(({shape}), …)"


def find_local_arrays(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield local arrays with dynamic indices, which cannot be in registers."""
    loops = loops_by_counter(subject.function)
    for access, kind, span in accesses(subject.function):
        if kind.space is not MemorySpace.LOCAL:
            continue
        if all(_is_unrolled(index, loops) for index in access.indices):
            continue
        hint = "index it with literals and counters of short loops alone, or use a shared array"
        text = "this index is computed"
        yield Note("local-array", (Label(span, text),), hint, access.array.name)


def _is_unrolled(index: Expr, loops: dict[str, For]) -> bool:
    read = [e for e in expressions(index) if not isinstance(e, Const)]
    return all(_counts(e, loops) for e in read if isinstance(e, (Var, Load))) and not any(
        isinstance(e, Load) for e in read
    )


def _counts(e: Expr, loops: dict[str, For]) -> bool:
    """Return whether a variable is the counter of a short loop with literal bounds."""
    loop = loops.get(e.name) if isinstance(e, Var) else None
    if loop is None or not all(isinstance(b, Const) for b in (loop.start, loop.stop, loop.step)):
        return False
    bounds = [int(b.value) for b in (loop.start, loop.stop, loop.step) if isinstance(b, Const)]
    return len(range(*bounds)) <= _MOST_ROUNDS
