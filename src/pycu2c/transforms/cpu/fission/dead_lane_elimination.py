"""Eliminate dead lanes: skip threads of a work-item loop whose results are never read (CPU).

``WorkItemLoop(x[thread] += sent[thread + 8])``, where later code reads ``x`` of lanes 0 to 7 only
-> ``WorkItemLoop(if lane < 8: x[thread] += sent[thread + 8])``. So a warp sum by shuffles takes 16,
8, 4, 2 and 1 additions instead of 32 each time. The pass is a backward analysis over the work-item
loops of a block; it tracks the live elements of each context array. Requires a known block shape.
Uses ``analysis.context_array_use`` and ``analysis.thread_values``. Guarantees that all effects and
live elements stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias

from pycu2c.analysis.context_array_use import ContextArrayUse, Elements, Threads
from pycu2c.analysis.thread_values import ThreadValues
from pycu2c.analysis.variables import accessed_names, single_definitions
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer, logical
from pycu2c.ir.walk import bodies, map_expr, map_stmt, statements, with_bodies, with_kernel_body
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import AND, EQ, GE, LT

LiveElements: TypeAlias = Mapping[str, Elements]  # live elements of each array


def eliminate_dead_lanes(
    module: ir.Module, assumptions: LaunchAssumptions, effectful: Set[str]
) -> ir.Module:
    """Eliminate dead lanes of a kernel in work-item loops with a known block shape."""
    kernel = module.kernel
    arrays = [s.var for s in statements(kernel.body) if isinstance(s, ir.Allocate)]
    lengths = {v.name: length for v in arrays if (length := _context_length(v.type))}
    if assumptions.block is None or not lengths:
        return module
    elimination = _DeadLaneElimination(assumptions, lengths, effectful)
    no_threads: Threads = frozenset()
    body, _ = elimination.block(kernel.body, dict.fromkeys(lengths, no_threads))
    return with_kernel_body(module, body)


def _context_length(t: Type) -> int | None:
    """Return the length of a one-dimensional context array, or None for other types."""
    if isinstance(t, Array) and t.space is MemorySpace.BLOCK and t.ndim == 1 and t.shape:
        return t.shape[0]
    return None


@dataclass(frozen=True, slots=True)
class _DeadLaneElimination:
    assumptions: LaunchAssumptions
    lengths: Mapping[str, int]
    effectful: Set[str]

    def block(self, body: ir.Body, live: LiveElements) -> tuple[ir.Body, LiveElements]:
        """Process a block outside the work-item loops; also return the elements live before it."""
        out: list[ir.Stmt] = []
        for s in reversed(body):
            if isinstance(s, ir.WorkItemLoop):
                loop_body, live = self.loop(s, live)
                out += loop_body
            elif isinstance(s, ir.If):
                (then, live_in_then), (orelse, live_in_else) = (
                    self.block(b, live) for b in bodies(s)
                )
                live = self._all_live(
                    _union(live_in_then, live_in_else), (replace(s, then=(), orelse=()),)
                )
                out.append(with_bodies(s, (then, orelse)))
            else:
                live = self._all_live(live, (s,))
                out.append(s)
        return tuple(reversed(out)), live

    def _all_live(self, live: LiveElements, body: ir.Body) -> LiveElements:
        """Mark all elements of the mentioned arrays as live."""
        names = accessed_names(body) & set(self.lengths)
        return {**live, **{name: frozenset(range(self.lengths[name])) for name in names}}

    def loop(self, s: ir.WorkItemLoop, live: LiveElements) -> tuple[ir.Body, LiveElements]:
        """Restrict a loop to the live threads; also return the elements live before it."""
        threads = self.assumptions.max_threads
        values = ThreadValues(
            self.assumptions.block, {n: (v,) for n, v in single_definitions(s.body).items()}
        )
        analysis = ContextArrayUse(values, threads, self.lengths, self.effectful)
        active = _ThreadRange.covering(analysis.live_threads(s.body, live), threads)
        if not active.threads:
            return (), live
        body = s.body
        if len(active.threads) < threads:
            body = _resolve_conditions(body, values, active.threads)
            coordinates = tuple(x for x in body if _is_coordinate(x))
            guarded = tuple(x for x in body if not _is_coordinate(x))
            branch = ir.If(active.condition(s.span), guarded, (), s.span)
            s = replace(s, body=(*coordinates, branch))
        accesses = analysis.of(body, active.threads)
        remaining = {
            n: elements - accesses.written.get(n, frozenset()) for n, elements in live.items()
        }
        return (s,), _union(remaining, accesses.read)


def _union(a: LiveElements, b: LiveElements) -> LiveElements:
    return {n: a.get(n, frozenset()) | b.get(n, frozenset()) for n in {*a, *b}}


def _is_coordinate(s: ir.Stmt) -> bool:
    """Return whether a statement declares a coordinate; axis loops use it as their variable."""
    match s:
        case ir.Declare(init=ir.Apply(arguments=()) as index):
            return index.intrinsic.is_pure
        case _:
            return False


def _resolve_conditions(body: ir.Body, values: ThreadValues, active_threads: Threads) -> ir.Body:
    """Resolve conditions that have one outcome for all active threads."""

    def outcome(condition: ir.Expr) -> bool | None:
        value_of = values.of(condition)
        outcomes = set() if value_of is None else {bool(value_of[t]) for t in active_threads}
        return outcomes.pop() if len(outcomes) == 1 else None

    def resolve_select(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Select) or (selects_then := outcome(e.condition)) is None:
            return e
        return e.then if selects_then else e.orelse

    def resolve_if(s: ir.Stmt) -> ir.Body:
        if not isinstance(s, ir.If) or (takes_then := outcome(s.condition)) is None:
            return (s,)
        return s.then if takes_then else s.orelse

    return map_stmt(map_expr(body, resolve_select), resolve_if)


@dataclass(frozen=True, slots=True)
class _ThreadRange:
    """A contiguous range of threads: of the block, or of each of its warps.

    ``threads`` are the threads of the block in the range ``first`` to ``stop - 1``.
    """

    first: int
    stop: int
    threads: Threads
    in_warps: bool

    @staticmethod
    def covering(active_threads: Threads, threads: int) -> _ThreadRange:
        """Return the smallest range that contains the threads and makes an efficient loop."""
        if not active_threads:
            return _ThreadRange(0, 0, active_threads, in_warps=False)
        first, stop = _align_outwards(min(active_threads), max(active_threads) + 1)
        block_range = _ThreadRange(
            first, min(stop, threads), frozenset(range(first, min(stop, threads))), False
        )
        if threads % WARP or threads == WARP:
            return block_range
        lanes = {t % WARP for t in active_threads}
        first, stop = _align_outwards(min(lanes), max(lanes) + 1)
        threads_in_lanes = frozenset(t for t in range(threads) if first <= t % WARP < stop)
        warp_range = _ThreadRange(first, stop, threads_in_lanes, True)
        return warp_range if len(threads_in_lanes) < len(block_range.threads) else block_range

    def condition(self, span: Span) -> ir.Expr:
        index: ir.Expr = ir.Apply(linear_thread_index, (), WEAK_INT, span)
        if self.in_warps:
            index = binary(AND, index, integer(WARP - 1, span), span)
        if (self.first, self.stop) == (0, 1):
            return binary(EQ, index, integer(self.first, span), span)
        below = binary(LT, index, integer(self.stop, span), span)
        if self.first == 0:
            return below
        above = binary(GE, index, integer(self.first, span), span)
        return logical(ir.LogicalOp.AND, above, below, span)


def _align_outwards(first: int, stop: int) -> tuple[int, int]:
    """Extend a range to the smallest aligned power of 2 that contains it."""
    size = 1
    while stop > first // size * size + size:
        size *= 2
    return first // size * size, first // size * size + size
