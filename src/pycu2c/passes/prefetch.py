"""CPU: a block asks for memory that is needed later. Processors foresee neighbours, not the next of
pieces that lie apart, nor what comes after a while of computing in shared memory.

A block that walks over data in steps of the grid asks for the next step before each:
``for i0 in range(…, n, gridsize): AxisLoop(… x[i0 + t] …)`` -> before the AxisLoop,
``if i0 + gridsize < n: prefetch(x[i0 + gridsize], 256)``

A block whose threads meet asks for what a block a little further on takes:
``AxisLoop(… part[t] = x[blockIdx.x * 256 + t] …)`` -> before all loops,
``if blocks_left > 4: prefetch(x[(blockIdx.x + 4) * 256], 256)``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pycu2c.intrinsics.block import PREFETCHED, blocks_left, prefetch, prefetch_to_write
from pycu2c.intrinsics.threads import PLACES
from pycu2c.ir.construct import binary, integer
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
from pycu2c.operators import ADD, GT, LT, MUL
from pycu2c.passes.facts import Facts
from pycu2c.records import dataclass, replace
from pycu2c.types import VOID, WEAK_INT, Array, Space

_MOST_ARRAYS = 4
_AHEAD = 4096  # bytes of an array between what a block takes and what it asks for

IsFirst: TypeAlias = Callable[[Expr], bool]  # of what the first thread's place is


@dataclass(frozen=True, slots=True)
class _Taken:
    """An array of which each thread takes the element at its place."""

    array: Var
    is_written: bool

    @property
    def bytes(self) -> int:
        """How many an element has."""
        assert isinstance(self.array.type, Array)
        return self.array.type.dtype.size


def ask_early(module: Module, facts: Facts) -> Module:
    """Takes a kernel in loops along axes, of blocks along x whose size is known."""
    if facts.block is None or facts.block[1:] != (1, 1):
        return module
    body = map_stmt(module.kernel.body, lambda s: (_asking(s, facts),))
    if not any(isinstance(s, BlockLoop) for s in body):
        body = _asking_for_block(body, facts)
    return replace(module, kernel=replace(module.kernel, body=body))


def _asking(s: Stmt, facts: Facts) -> Stmt:
    match s:
        case For(step=step, body=(AxisLoop() as loop,)) if not isinstance(step, Const):
            taken = _taken((loop,), lambda e: isinstance(e, Var) and e.name == s.var.name)
            following = binary(ADD, s.var, step, s.span)
            asked = _asked(taken, following, facts)
            if not asked:
                return s
            is_there = binary(LT, following, s.stop, s.span)
            return replace(s, body=(If(is_there, asked, (), s.span), loop))
        case BlockLoop(body=body, order=(0, 1, 2), in_rows=False):
            return replace(s, body=_asking_for_block(body, facts))
        case _:
            return s


def _asking_for_block(body: Body, facts: Facts) -> Body:
    """What is run for one block after the other."""
    loops = [s for s in statements(body) if isinstance(s, AxisLoop)]
    kept = tuple(s for s in body if isinstance(s, Allocate))
    taken = _taken(loops, lambda e: _is_first_of_block(e, facts))
    if not kept or not taken:  # what threads keep is for after they have met
        return body
    span = loops[0].span
    step = _AHEAD // (facts.threads * max(a.bytes for a in taken)) or 1
    ahead, here = integer(step, span), Apply(PLACES["blockIdx", "x"], (), WEAK_INT, span)
    block = binary(ADD, here, ahead, span)
    first = binary(MUL, block, integer(facts.threads, span), span)
    is_there = binary(GT, Apply(blocks_left, (), WEAK_INT, span), ahead, span)
    asking = If(is_there, _asked(taken, first, facts), (), span)
    return (*kept, asking, *(s for s in body if not isinstance(s, Allocate)))


def _is_first_of_block(e: Expr, facts: Facts) -> bool:
    """Whether it is ``blockIdx.x * blockDim.x``."""
    match e:
        case Binary(op=op, left=Apply(intrinsic=row), right=Const(value=value)):
            return op is MUL and row is PLACES["blockIdx", "x"] and value == facts.threads
        case _:
            return False


def _taken(loops: Iterable[AxisLoop], is_first: IsFirst) -> list[_Taken]:
    """The arrays of which threads take the element that is as far from the first thread's as they
    are, unless there are many."""
    arrays: dict[str, Var] = {}
    written: set[str] = set()
    for loop in loops:
        places = [
            s.var.name
            for s in loop.body
            if isinstance(s, Declare) and _is_own(s.init, loop, is_first)
        ]
        for array, index, is_written in _accesses(loop.body):
            if isinstance(index, Var) and index.name in places:
                arrays[array.name] = array
                written |= {array.name} if is_written else set()
    if len(arrays) > _MOST_ARRAYS:
        return []
    return [_Taken(array, name in written) for name, array in arrays.items()]


def _is_own(e: Expr | None, loop: AxisLoop, is_first: IsFirst) -> bool:
    match e:
        case Binary(op=op, left=first, right=Var(name=name)):
            return op is ADD and name == loop.var.name and is_first(first)
        case _:
            return False


def _accesses(body: Body) -> Iterator[tuple[Var, Expr, bool]]:
    """Elements of arguments that are read, or written."""
    for e in all_expressions(body):
        match e:
            case Load(array=Var() as array, indices=(index,)) if _is_near(array):
                yield array, index, False
            case _:
                pass
    for s in statements(body):
        match s:
            case Store(array=array, indices=(index,)) if _is_near(array):
                yield array, index, True
            case _:
                pass


def _is_near(array: Var) -> bool:
    """Whether it is an argument whose elements are neighbours, and have addresses."""
    match array.type:
        case Array(space=Space.GLOBAL, layout="C", dtype=dtype):
            return dtype in PREFETCHED
        case _:
            return False


def _asked(taken: Iterable[_Taken], first: Expr, facts: Facts) -> Body:
    span, count = first.span, integer(facts.threads, first.span)
    return tuple(
        Evaluate(
            Apply(
                prefetch_to_write if a.is_written else prefetch,
                (Load(a.array, (first,), span), count),
                VOID,
                span,
            ),
            span,
        )
        for a in taken
    )
