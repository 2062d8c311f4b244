"""The hidden arrays of instrumented functions, and the calls of device functions on them."""

from __future__ import annotations

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, MemorySpace, Scalar, int64, uint64
from pycu2c.checks.device_functions.barrier_divergence import GRID_ROW
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import const, integer

_NOWHERE = Span("", 0, 0, 0, 0)
WORDS = Array(uint64.dtype, 1, "C")
# Rows that only the threads of a block change have the space of shared memory, so that the CPU
# needs no atomic operations. On a GPU they are in global memory.
WORDS_OF_BLOCK = replace(WORDS, space=MemorySpace.SHARED)
ROWS_OF_BLOCK = replace(WORDS_OF_BLOCK, ndim=2)
FINDINGS = ir.Var("findings.check", Array(int64.dtype, 2, "C"), _NOWHERE)
# how many findings the thread has had: see recording
OWN_COUNT = ir.Var("own_count.check", Array(int64.dtype, 1, "C", MemorySpace.LOCAL, (1,)), _NOWHERE)
THREAD_STATE = ir.Var("state.check", WORDS, _NOWHERE)
BLOCK_INDEX = ir.Var("block.check", WEAK_INT, _NOWHERE)  # the linear index of the block


@dataclass(frozen=True, slots=True)
class HiddenArray:
    """A hidden parameter of the kernel.

    region: the memory of arguments that it is the shadow of. size: the bytes of the shared array
    that it is the shadow of, with a row for each block; None for dynamic shared memory. unit: the
    bytes of a cell.
    """

    var: ir.Var
    region: MemoryRegion | None = None
    size: int | None = None
    unit: int = 1


def words(name: str, ndim: int) -> ir.Var:
    return ir.Var(name, replace(WORDS, ndim=ndim), _NOWHERE)


BARRIERS = HiddenArray(words("barriers.check", 3))  # see barrier_divergence
ARRIVALS = HiddenArray(words("arrivals.shadow", 3))  # see timed_barriers
LANES = HiddenArray(words("lanes.check", 3))  # the clocks of lanes, by block and thread
BLOCK_CLOCKS = HiddenArray(words("clocks.check", 2))


def device_call(name: str, span: Span, *arguments: ir.Expr, result: Scalar = WEAK_BOOL) -> ir.Call:
    """Return a call of a function of ``device_functions``."""
    return ir.Call(f"{name}.check", arguments, result, span)


def unsigned(value: int, span: Span) -> ir.Const:
    """Return an argument for a word, or a flag, of a device function."""
    return const(value, span, uint64)


def lane_call(name: str, span: Span, *arguments: ir.Expr) -> ir.Call:
    """Return a call of a function of ``lane_clocks``."""
    rows = _rows(LANES, (BLOCK_INDEX,), ROWS_OF_BLOCK, span)
    return device_call(name, span, rows, THREAD_STATE, *arguments)


def barrier_rows(span: Span) -> ir.View:
    """Return the rows of the block that compare its barriers."""
    return _rows(BARRIERS, (BLOCK_INDEX,), ROWS_OF_BLOCK, span)


def grid_barrier_row(span: Span) -> ir.View:
    """Return the row that compares the barriers of the grid."""
    return _rows(BARRIERS, (integer(0, span), integer(GRID_ROW, span)), WORDS, span)


def block_clocks(span: Span) -> tuple[ir.Expr, ...]:
    """Return the clocks of all blocks, and the row of the block."""
    return BLOCK_CLOCKS.var, _rows(BLOCK_CLOCKS, (BLOCK_INDEX,), WORDS_OF_BLOCK, span)


def _rows(array: HiddenArray, indices: tuple[ir.Expr, ...], kind: Array, span: Span) -> ir.View:
    """Return the part of an array at its first indices."""
    axes = tuple(range(len(indices), len(indices) + kind.ndim))
    first = (*indices, *(integer(0, span) for _ in axes))
    steps = tuple(integer(1, span) for _ in axes)
    lengths = tuple(ir.Dim(array.var, axis, span) for axis in axes)
    return ir.View(array.var, first, axes, steps, lengths, kind, span)


def cluster_extents(cluster: tuple[int, ...], span: Span) -> tuple[ir.Expr, ...]:
    """Return how many blocks a cluster has along x, y and z."""
    return tuple(integer(size, span) for size in (*cluster, 1, 1, 1)[:3])
