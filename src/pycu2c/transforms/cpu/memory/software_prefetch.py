"""CPU: a block asks for memory that is needed later. Processors foresee neighbours, not the next of
pieces that lie apart, nor what comes after a while of computing in shared memory.

A block that walks over data in steps of the grid asks for the next step before each:
``for i0 in range(…, n, gridsize): AxisLoop(… x[i0 + t] …)`` -> before the AxisLoop,
``if i0 + gridsize < n: prefetch(x[i0], gridsize, 256)``

A block whose threads meet asks for what a block a little further on takes:
``AxisLoop(… part[t] = x[blockIdx.x * 256 + t] …)`` -> before all loops,
``if blocks_left > 4: prefetch(x[blockIdx.x * 256], 4 * 256, 256)``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import VOID, WEAK_INT, Array, MemorySpace
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    AxisLoop,
    Binary,
    BlockLoop,
    Body,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Module,
    Stmt,
    Store,
    Var,
)
from pycu2c.ir.walk import all_expressions, map_stmt, statements
from pycu2c.ops.intrinsics.threads.coordinates import PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import (
    PREFETCHED,
    blocks_left,
    prefetch,
    prefetch_to_write,
)
from pycu2c.ops.operators import ADD, GT, LT, MUL

_MOST_ARRAYS = 4
_AHEAD = 4096  # bytes of an array between what a block takes and what it asks for

IsFirst: TypeAlias = Callable[[Expr], bool]  # of what the first thread's place is


@dataclass(frozen=True, slots=True)
class PrefetchStream:
    """An array in memory of which threads take elements one after the other, from ``first`` on."""

    array: Var
    first: Expr
    is_written: bool

    @property
    def bytes(self) -> int:
        """How many an element has."""
        assert isinstance(self.array.type, Array)
        return self.array.type.dtype.size


def insert_software_prefetches(module: Module, facts: Facts) -> Module:
    """Takes a kernel in loops along axes, of blocks along x whose size is known."""
    if facts.block is None or facts.block[1:] != (1, 1):
        return module
    body = map_stmt(module.kernel.body, lambda s: (_asking(s, facts),))
    if not any(isinstance(s, BlockLoop) for s in body):
        body = _asking_for_block(body, facts)
    return replace(module, kernel=replace(module.kernel, body=body))


def _asking(s: Stmt, facts: Facts) -> Stmt:
    match s:
        case For(var=var, step=step, body=(AxisLoop() as loop,)) if not isinstance(step, Const):
            walks = _walks((loop,), lambda e: isinstance(e, Var) and e.name == var.name)
            if not walks:
                return s
            is_there = binary(LT, binary(ADD, var, step, s.span), s.stop, s.span)
            count = integer(facts.threads, s.span)
            asked = tuple(prefetch_statement(walk, step, count) for walk in walks)
            return replace(s, body=(If(is_there, asked, (), s.span), loop))
        case BlockLoop(body=body, order=(0, 1, 2), in_rows=False):
            return replace(s, body=_asking_for_block(body, facts))
        case _:
            return s


def _asking_for_block(body: Body, facts: Facts) -> Body:
    """What is run for one block after the other."""
    loops = [s for s in statements(body) if isinstance(s, AxisLoop)]
    kept = [s for s in body if isinstance(s, Allocate)]
    walks = _walks(loops, lambda e: _is_first_of_block(e, facts))
    if not kept or not walks:  # what threads keep is for after they have met
        return body
    span, count = loops[0].span, integer(facts.threads, loops[0].span)
    blocks = _AHEAD // (facts.threads * max(walk.bytes for walk in walks)) or 1
    ahead = integer(blocks * facts.threads, span)
    asked = tuple(prefetch_statement(walk, ahead, count) for walk in walks)
    left = Apply(blocks_left, (), WEAK_INT, span)
    is_there = binary(GT, left, integer(blocks, span), span)
    begins = next(i for i, s in enumerate(body) if not isinstance(s, Allocate))
    return (*body[:begins], If(is_there, asked, (), span), *body[begins:])


def _is_first_of_block(e: Expr, facts: Facts) -> bool:
    """Whether it is ``blockIdx.x * blockDim.x``."""
    match e:
        case Binary(op=op, left=Apply(intrinsic=row), right=Const(value=value)):
            return op is MUL and row is PLACES["blockIdx", "x"] and value == facts.threads
        case _:
            return False


def _walks(loops: Iterable[AxisLoop], is_first: IsFirst) -> list[PrefetchStream]:
    """The arrays of which threads take the element that is as far from the first thread's as they
    are, unless there are many."""
    found: dict[str, PrefetchStream] = {}
    for loop in loops:
        declared = {s.var.name: s.init for s in loop.body if isinstance(s, Declare)}
        places = {name: first for name, e in declared.items() if (first := _first(e, loop))}
        for array, index, is_written in accesses(loop.body):
            first = places.get(index.name) if isinstance(index, Var) else None
            if first is not None and is_first(first):
                is_written |= array.name in found and found[array.name].is_written
                found[array.name] = PrefetchStream(array, first, is_written)
    return list(found.values()) if len(found) <= _MOST_ARRAYS else []


def _first(e: Expr | None, loop: AxisLoop) -> Expr | None:
    """Where the first thread of a loop is, if this is where each is."""
    match e:
        case Binary(op=op, left=first, right=Var(name=name)):
            return first if op is ADD and name == loop.var.name else None
        case _:
            return None


def accesses(body: Body) -> Iterator[tuple[Var, Expr, bool]]:
    """The elements of arguments that are read, or written: the array, the index, whether it is
    written."""
    for e in all_expressions(body):
        match e:
            case Load(array=Var() as array, indices=(index,)) if is_contiguous_argument(array):
                yield array, index, False
            case _:
                pass
    for s in statements(body):
        match s:
            case Store(array=array, indices=(index,)) if is_contiguous_argument(array):
                yield array, index, True
            case _:
                pass


def is_contiguous_argument(array: Var) -> bool:
    """Whether it is an argument whose elements are neighbours, and have addresses."""
    match array.type:
        case Array(space=MemorySpace.GLOBAL, layout="C", dtype=dtype):
            return dtype in PREFETCHED
        case _:
            return False


def prefetch_statement(walk: PrefetchStream, ahead: Expr, count: Expr) -> Stmt:
    """Ask for so many elements, so many further than a walk's first."""
    row, span = prefetch_to_write if walk.is_written else prefetch, ahead.span
    first = Load(walk.array, (walk.first,), span)
    return Evaluate(Apply(row, (first, ahead, count), VOID, span), span)
