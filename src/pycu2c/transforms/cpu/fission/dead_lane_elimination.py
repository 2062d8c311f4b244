"""CPU: threads whose work nobody reads are left out of a thread loop.

``WorkItemLoop(x[thread] += sent[thread + 8])``, and then only the lanes 0 to 7 of each warp have
their ``x`` read -> ``WorkItemLoop(if lane < 8: x[thread] += sent[thread + 8])``

So a sum over a warp by shuffles takes 16 additions, 8, 4, 2 and 1, not 32 each time. It goes
backward through the thread loops of a block, and keeps for each array that has a slot for each
thread the slots that are read later.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias

from pycu2c.analysis.context_array_use import ContextArrayUse, Threads
from pycu2c.analysis.effects import accessed_names, effectful
from pycu2c.analysis.lane_values import LaneValues
from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.live_across_barriers import single_definitions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Type
from pycu2c.ir.builders import binary, integer, logical
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Body,
    Declare,
    Expr,
    If,
    LogicalOp,
    Module,
    Select,
    Stmt,
    WorkItemLoop,
)
from pycu2c.ir.walk import bodies, map_expr, map_stmt, statements, with_bodies
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.ops.operators import AND, EQ, GE, LT

Read: TypeAlias = Mapping[str, Threads]  # the slots of each array that are read later

_LEAST_LANES = 4  # fewer threads are done as soon with others


def eliminate_dead_lanes(module: Module, facts: Facts) -> Module:
    """Takes a kernel in thread loops, in blocks whose size is known."""
    kernel = module.kernel
    made = [s.var for s in statements(kernel.body) if isinstance(s, Allocate)]
    lengths = {v.name: length for v in made if (length := _slots_of(v.type))}
    if facts.block is None or not lengths:
        return module
    dropping = _Dropping(facts, lengths, effectful(module))
    nothing: Threads = frozenset()
    body, _ = dropping.block(kernel.body, dict.fromkeys(lengths, nothing))
    return replace(module, kernel=replace(kernel, body=body))


def _slots_of(kind: Type) -> int | None:
    """How many slots an array of the block has that the kernel itself knows nothing of."""
    if (
        isinstance(kind, Array)
        and kind.space is MemorySpace.BLOCK
        and kind.ndim == 1
        and kind.shape
    ):
        return kind.shape[0]
    return None


@dataclass(frozen=True, slots=True)
class _Dropping:
    facts: Facts
    lengths: Mapping[str, int]
    effectful: Set[str]

    def block(self, body: Body, read: Read) -> tuple[Body, Read]:
        """A block outside the thread loops, and what is read of what is there before it."""
        out: list[Stmt] = []
        for s in reversed(body):
            if isinstance(s, WorkItemLoop):
                kept, read = self.loop(s, read)
                out += kept
            elif isinstance(s, If):
                (then, before), (orelse, other) = (self.block(b, read) for b in bodies(s))
                read = self._with_all(_joined(before, other), (replace(s, then=(), orelse=()),))
                out.append(with_bodies(s, (then, orelse)))
            else:
                read = self._with_all(read, (s,))
                out.append(s)
        return tuple(reversed(out)), read

    def _with_all(self, read: Read, body: Body) -> Read:
        """Where slots may be read in any order, all are."""
        names = accessed_names(body) & set(self.lengths)
        return {**read, **{name: frozenset(range(self.lengths[name])) for name in names}}

    def loop(self, s: WorkItemLoop, read: Read) -> tuple[Body, Read]:
        threads = self.facts.threads
        values = LaneValues(
            self.facts.block, {n: (v,) for n, v in single_definitions(s.body).items()}
        )
        use = ContextArrayUse(values, threads, self.lengths, self.effectful)
        run = _Run.around(use.live_threads(s.body, read), threads)
        if not run.threads:
            return (), read
        body = s.body
        if len(run.threads) < threads:
            settled = _settled(body, values, run.threads)
            places = tuple(s for s in settled if _is_place(s))
            rest = tuple(s for s in settled if not _is_place(s))
            s = replace(s, body=(*places, If(run.condition(s.span), rest, (), s.span)))
            body = settled
        used = use.of(body, run.threads)
        left = {n: slots - used.written.get(n, frozenset()) for n, slots in read.items()}
        return (s,), _joined(left, used.read)


def _joined(a: Read, b: Read) -> Read:
    return {n: a.get(n, frozenset()) | b.get(n, frozenset()) for n in {*a, *b}}


def _is_place(s: Stmt) -> bool:
    """Whether a statement only says where a thread stands: loops have that as their variable."""
    match s:
        case Declare(init=Apply(arguments=()) as place):
            return place.intrinsic.is_pure
        case _:
            return False


def _settled(body: Body, values: LaneValues, among: Threads) -> Body:
    """Choices that are the same for all threads that are left are made."""

    def told(condition: Expr) -> bool | None:
        found = values.of(condition)
        answers = {bool(found[t]) for t in among} if found else set()
        return answers.pop() if len(answers) == 1 else None

    def chosen(e: Expr) -> Expr:
        answer = told(e.condition) if isinstance(e, Select) else None
        return e if answer is None or not isinstance(e, Select) else e.then if answer else e.orelse

    def taken(s: Stmt) -> Body:
        answer = told(s.condition) if isinstance(s, If) else None
        return (s,) if answer is None or not isinstance(s, If) else s.then if answer else s.orelse

    return map_stmt(map_expr(body, chosen), taken)


@dataclass(frozen=True, slots=True)
class _Run:
    """Threads that follow each other: in the block, or in each of its warps."""

    first: int
    last: int
    threads: Threads
    in_warps: bool

    @staticmethod
    def around(busy: Threads, threads: int) -> _Run:
        """The fewest that some threads are among and that make a loop worth its while."""
        if not busy:
            return _Run(0, 0, busy, in_warps=False)
        first, last = _rounded(min(busy), max(busy) + 1)
        in_block = _Run(
            first, min(last, threads), frozenset(range(first, min(last, threads))), False
        )
        if threads % WARP or threads == WARP:
            return in_block
        lanes = {t % WARP for t in busy}
        first, last = _rounded(min(lanes), max(lanes) + 1)
        chosen = frozenset(t for t in range(threads) if first <= t % WARP < last)
        in_warps = _Run(first, last, chosen, True)
        return in_warps if len(chosen) < len(in_block.threads) else in_block

    def condition(self, span: Span) -> Expr:
        place: Expr = Apply(block_thread, (), WEAK_INT, span)
        if self.in_warps:
            place = binary(AND, place, integer(WARP - 1, span), span)
        if (self.first, self.last) == (0, 1):
            return binary(EQ, place, integer(self.first, span), span)
        below = binary(LT, place, integer(self.last, span), span)
        if self.first == 0:
            return below
        above = binary(GE, place, integer(self.first, span), span)
        return logical(LogicalOp.AND, above, below, span)


def _rounded(first: int, last: int) -> tuple[int, int]:
    """Outward to whole vectors: the least power of 2 that holds them, where that begins."""
    size = 1
    while last > first // size * size + size:
        size *= 2
    return first // size * size, first // size * size + size
