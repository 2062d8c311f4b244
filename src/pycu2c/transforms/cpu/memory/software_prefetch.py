"""Insert software prefetches for data of later iterations and blocks (CPU).

Hardware prefetchers follow contiguous accesses. They miss the next of several distant chunks, and
accesses after a phase of computation in shared memory.

A grid-stride loop prefetches its next iteration: ``for i0 in range(…, n, gridsize): AxisLoop(… x[i0
+ t] …)`` -> before the AxisLoop, ``if i0 + gridsize < n: prefetch(x[i0], gridsize, 256)``

A block with barriers prefetches the data of a later block: ``AxisLoop(… part[t] = x[blockIdx.x *
256 + t] …)`` -> before all loops, ``if blocks_left > 4: prefetch(x[blockIdx.x * 256], 4 * 256,
256)``

Requires the form AXIS_LOOPS (``ir/forms.py``) and a one-dimensional block of known size. Changes no
values. Reference: Mowry, Lam and Gupta, "Design and evaluation of a compiler algorithm for
prefetching" (1992).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import VOID, WEAK_INT, Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.walk import all_expressions, map_stmt, statements, with_kernel_body
from pycu2c.ops.intrinsics.threads.coordinates import COORDINATES
from pycu2c.ops.intrinsics.threads.cpu_block import (
    PREFETCHED,
    blocks_left,
    prefetch,
    prefetch_to_write,
)
from pycu2c.ops.operators import ADD, GT, LT, MUL

_MAX_ARRAYS = 4
_PREFETCH_DISTANCE = 4096  # bytes between the accessed and the prefetched elements

IsStart: TypeAlias = Callable[[ir.Expr], bool]  # tests for the index of the first thread


@dataclass(frozen=True, slots=True)
class PrefetchStream:
    """An array of which consecutive threads access consecutive elements, starting at ``first``."""

    array: ir.Var
    first: ir.Expr
    is_written: bool

    @property
    def element_size(self) -> int:
        """Return the size of an element in bytes."""
        assert isinstance(self.array.type, Array)
        return self.array.type.dtype.size


def insert_software_prefetches(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Insert prefetches in a kernel of axis loops, whose blocks are one-dimensional."""
    if assumptions.block is None or assumptions.block[1:] != (1, 1):
        return module
    body = map_stmt(module.kernel.body, lambda s: (_prefetch_in_loop(s, assumptions),))
    if not any(isinstance(s, ir.BlockLoop) for s in body):
        body = _prefetch_for_block(body, assumptions)
    return with_kernel_body(module, body)


def _prefetch_in_loop(s: ir.Stmt, assumptions: LaunchAssumptions) -> ir.Stmt:
    match s:
        case ir.For(var=var, step=step, body=(ir.AxisLoop() as loop,)) if not isinstance(
            step, ir.Const
        ):
            streams = _streams((loop,), lambda e: isinstance(e, ir.Var) and e.name == var.name)
            if not streams:
                return s
            has_next = binary(LT, binary(ADD, var, step, s.span), s.stop, s.span)
            count = integer(assumptions.max_threads, s.span)
            prefetches = tuple(prefetch_statement(stream, step, count) for stream in streams)
            return replace(s, body=(ir.If(has_next, prefetches, (), s.span), loop))
        case ir.BlockLoop(body=body, order=(0, 1, 2), in_rows=False):
            return replace(s, body=_prefetch_for_block(body, assumptions))
        case _:
            return s


def _prefetch_for_block(body: ir.Body, assumptions: LaunchAssumptions) -> ir.Body:
    """Prefetch in code that runs for one block after the other."""
    loops = [s for s in statements(body) if isinstance(s, ir.AxisLoop)]
    allocations = [s for s in body if isinstance(s, ir.Allocate)]
    streams = _streams(loops, lambda e: _is_first_of_block(e, assumptions))
    if not allocations or not streams:  # without context arrays there is no barrier
        return body
    span, count = loops[0].span, integer(assumptions.max_threads, loops[0].span)
    blocks = (
        _PREFETCH_DISTANCE
        // (assumptions.max_threads * max(stream.element_size for stream in streams))
        or 1
    )
    distance = integer(blocks * assumptions.max_threads, span)
    prefetches = tuple(prefetch_statement(stream, distance, count) for stream in streams)
    remaining = ir.Apply(blocks_left, (), WEAK_INT, span)
    has_next = binary(GT, remaining, integer(blocks, span), span)
    first_statement = next(i for i, s in enumerate(body) if not isinstance(s, ir.Allocate))
    return (*body[:first_statement], ir.If(has_next, prefetches, (), span), *body[first_statement:])


def _is_first_of_block(e: ir.Expr, assumptions: LaunchAssumptions) -> bool:
    """Return whether an expression is ``blockIdx.x * blockDim.x``."""
    match e:
        case ir.Binary(op=op, left=ir.Apply(intrinsic=intrinsic), right=ir.Const(value=value)):
            return (
                op is MUL
                and intrinsic is COORDINATES["blockIdx", "x"]
                and value == assumptions.max_threads
            )
        case _:
            return False


def _streams(loops: Iterable[ir.AxisLoop], is_start: IsStart) -> list[PrefetchStream]:
    """Return the arrays accessed at the thread's offset from the start; none if there are many."""
    streams: dict[str, PrefetchStream] = {}
    for loop in loops:
        definitions = {s.var.name: s.init for s in loop.body if isinstance(s, ir.Declare)}
        first_indices = {
            name: first for name, e in definitions.items() if (first := _first_index(e, loop))
        }
        for array, index, is_written in accesses(loop.body):
            first = first_indices.get(index.name) if isinstance(index, ir.Var) else None
            if first is not None and is_start(first):
                is_written |= array.name in streams and streams[array.name].is_written
                streams[array.name] = PrefetchStream(array, first, is_written)
    return list(streams.values()) if len(streams) <= _MAX_ARRAYS else []


def _first_index(e: ir.Expr | None, loop: ir.AxisLoop) -> ir.Expr | None:
    """Return the start index if an expression is the start plus the loop variable, else None."""
    match e:
        case ir.Binary(op=op, left=first, right=ir.Var(name=name)):
            return first if op is ADD and name == loop.var.name else None
        case _:
            return None


def accesses(body: ir.Body) -> Iterator[tuple[ir.Var, ir.Expr, bool]]:
    """Yield array, index, and whether it is written, for accesses to contiguous arguments."""
    for e in all_expressions(body):
        match e:
            case ir.Load(array=ir.Var() as array, indices=(index,)) if is_contiguous_argument(
                array
            ):
                yield array, index, False
    for s in statements(body):
        match s:
            case ir.Store(array=array, indices=(index,)) if is_contiguous_argument(array):
                yield array, index, True


def is_contiguous_argument(array: ir.Var) -> bool:
    """Return whether an array is a contiguous argument that can be prefetched."""
    match array.type:
        case Array(space=MemorySpace.GLOBAL, layout="C", dtype=dtype):
            return dtype in PREFETCHED
        case _:
            return False


def prefetch_statement(stream: PrefetchStream, distance: ir.Expr, count: ir.Expr) -> ir.Stmt:
    """Prefetch ``count`` elements, ``distance`` elements after the start of a stream."""
    prefetch_intrinsic, span = prefetch_to_write if stream.is_written else prefetch, distance.span
    first = ir.Load(stream.array, (stream.first,), span)
    return ir.Evaluate(ir.Apply(prefetch_intrinsic, (first, distance, count), VOID, span), span)
