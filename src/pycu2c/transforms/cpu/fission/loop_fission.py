"""Cuts a kernel's body into thread loops, as a Placement says.

Knows control flow only: what lives from one thread loop to the next is ``insert_context_arrays``'s task.
"""

from __future__ import annotations

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.region_placement import Placement
from pycu2c.analysis.suspension_points import has_wait
from pycu2c.analysis.uniformity import Construct, Uniformity
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir.builders import binary, integer, negation
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    BarrierWait,
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Declare,
    Evaluate,
    For,
    Granularity,
    If,
    Load,
    NextWorkItem,
    Return,
    Stmt,
    Store,
    StripLoop,
    While,
    WorkItemLoop,
)
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands, statements, with_bodies
from pycu2c.ops.operators import ADD, GE, LT, QUOTIENT, REMAINDER
from pycu2c.transforms.cpu.barriers.block_reductions import (
    clear,
    contribution_array,
    reduce_contributions,
)
from pycu2c.transforms.cpu.simd.active_masks import RETURNED, ActiveMasks, thread_index
from pycu2c.transforms.cpu.simd.lane_counters import continuation_condition


@dataclass(frozen=True, slots=True)
class _Waits:
    """The states of threads that have left a masked loop, or its present iteration."""

    broken: int
    continued: int


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a block stands: under a mask; in which masked loop; whether the kernel ends with
    it; whether it is run again."""

    masked: bool = False
    loop: _Waits | None = None
    last: bool = False
    repeats: bool = False


@dataclass(slots=True)
class _Run:
    """What will be one thread loop: who runs again, then what running threads do."""

    resets: list[Stmt] = field(default_factory=list)
    body: list[Stmt] = field(default_factory=list)


def split_at_barriers(
    body: Body, facts: Uniformity, placement: Placement, masks: ActiveMasks, span: Span
) -> Body:
    """A kernel's body as what one block does."""
    cutter = _Cutter(facts, placement, masks, span, placement.leaves_block(body))
    return masks.with_initial_state(cutter.block(body, _Site(last=True)), span)


@dataclass(slots=True)
class _Cutter:
    facts: Uniformity
    placement: Placement
    masks: ActiveMasks
    span: Span
    threads_leave: bool  # the kernel, or the masked loop that this is in
    some_wait: bool = False  # here some thread may not be running
    thread_range: range | None = None  # the threads that come here, of all

    def block(self, body: Body, site: _Site) -> Body:
        """A block outside the thread loops."""
        out: list[Stmt] = []
        region = _Run()
        for i, s in enumerate(body):
            if isinstance(s, BarrierWait):
                lost, rest = self._meet(s, out, region, site), body[i + 1 :]
            else:
                lost, rest = self._cuts(s, region) and self._close(out, region, site), body[i:]
            if lost and self._goes_on_if_live(out, rest, site):
                return tuple(out)
            if isinstance(s, BarrierWait):
                continue
            if isinstance(s, Return | Break | Continue):
                (out if s in self.placement.block_jumps else region.body).append(s)
                break
            rest = body[i + 1 :]
            lost = self._put(s, out, region, replace(site, last=site.last and not rest))
            if lost and self._goes_on_if_live(out, rest, site):
                return tuple(out)
        if self._close(out, region, site, last=site.last):
            self._goes_on_if_live(out, (), site)
        return tuple(out)

    def _cuts(self, s: Stmt, region: _Run) -> bool:
        """Whether the thread loop so far must be done before ``s``."""
        if s in self.placement.hoisted:  # varying conditions are evaluated in the thread loop
            return self.facts.agrees(*operands(s))
        if self._is_scalar(s):
            return _must_follow(s, region.body, self.placement)
        return s in self.placement.block_jumps

    def _meet(self, s: BarrierWait, out: list[Stmt], region: _Run, site: _Site) -> bool:
        """Each thread puts down what it gives before the cut; the block makes sums of it."""
        sums: list[Stmt] = []
        for contribution in s.contributions:
            slots = contribution.array
            if contribution.granularity is not Granularity.THREAD:
                slots = contribution_array(slots, self.masks.threads)
                out += [Allocate(slots, s.span), *clear(slots, s.span)]
                sums += reduce_contributions(contribution.array, slots, s.span)
            region.body.append(Store(slots, (thread_index(s.span),), contribution.value, s.span))
        lost = bool(region.body) and self._close(out, region, site)
        out += sums
        return lost

    def _is_scalar(self, s: Stmt) -> bool:
        return isinstance(s, Assign | Declare) and s.var.name in self.placement.scalars

    def _goes_on_if_live(self, out: list[Stmt], rest: Body, site: _Site) -> bool:
        """Keeps the block from what no thread comes to; True if ``rest`` has been put."""
        if not site.masked:
            if rest or site.repeats:
                out.append(self.masks.if_none_live((Return(None, self.span),), self.span))
            return False
        if placed := self.block(rest, site):
            out.append(self.masks.if_any_live(placed, self.span))
        return True

    def _put(self, s: Stmt, out: list[Stmt], region: _Run, site: _Site) -> bool:
        """Place one statement; True if no thread may be running after it."""
        if self._is_scalar(s):
            out.append(s)
            return False
        if s not in self.placement.hoisted:
            region.body.append(s)
            return False
        assert isinstance(s, If | While | For)
        if s not in self.placement.masked:
            return self._plain(s, out, site)
        waiting = self.some_wait or self.placement.leaves_block(tuple(region.body))
        if isinstance(s, If) and not waiting and (runs := self._runs(s)):
            self._in_runs(s, runs, out, region, site)
            return False
        if isinstance(s, If):
            self._masked_if(s, out, region, site)
            lost = self.placement.leaves_block((*s.then, *s.orelse))
        else:
            self._masked_loop(s, out, region, site)
            lost = self.placement.returns_early(s.body)
        self.some_wait = waiting or lost
        if site.last:
            return False
        if lost or (self.threads_leave and site.masked):  # others may have left a loop before
            self._close(out, region, site, count=True)
        elif self.threads_leave:
            out.append(self.masks.set_live(True, s.span))
        return lost

    # ---- thread loops ------------------------------------------------------------------------

    def _close(
        self, out: list[Stmt], region: _Run, site: _Site, *, count: bool = False, last: bool = False
    ) -> bool:
        """Put the thread loop so far; True if no thread may be running after it."""
        lost = self.placement.leaves_block(tuple(region.body)) and not last
        span = region.body[0].span if region.body else self.span
        body = (
            [*self._only_the_run(span), *region.resets]
            if region.resets or region.body or count
            else []
        )
        if self.some_wait and (region.body or count):
            body.append(self.masks.skip_inactive(span))
        body += self._as_states(tuple(region.body), site.loop, last)
        if count or lost:
            out.append(self.masks.set_live(False, span))
            body.append(self.masks.mark_live(span))
        if body and isinstance(body[-1], NextWorkItem):
            body.pop()
        if body:
            out.append(WorkItemLoop(tuple(body), span))
        self.some_wait = self.some_wait or lost
        region.resets, region.body = [], []
        return lost

    def _as_states(self, body: Body, loop: _Waits | None, last: bool) -> Body:
        """Jumps out of a thread loop become states; those of loops inside it stay."""
        out: list[Stmt] = []
        for s in body:
            match s:
                case Return(_, span) if last:
                    out.append(NextWorkItem(span))
                case Return(_, span):
                    out += self.masks.deactivate(RETURNED, span)
                case Break(span) if loop is not None:
                    out += self.masks.deactivate(loop.broken, span)
                case Continue(span) if loop is not None:
                    out += self.masks.deactivate(loop.continued, span)
                case While() | For():
                    out.append(replace(s, body=self._as_states(s.body, None, last)))
                case _:
                    inner = tuple(self._as_states(b, loop, last) for b in bodies(s))
                    out.append(with_bodies(s, inner))
        return tuple(out)

    # ---- hoisted constructs --------------------------------------------------------------------

    def _plain(self, s: Construct, out: list[Stmt], site: _Site) -> bool:
        """All running threads go the same way: C's own control flow."""
        if not isinstance(s, If):
            self.some_wait = self.some_wait or self.placement.returns_early(s.body)
            inner = _Site(site.masked, repeats=not site.masked)
            out.append(replace(s, body=self.block(s.body, inner)))
            return False  # where all threads return, the block has
        waiting = self.some_wait
        site = replace(site, repeats=False)
        then = self.block(s.then, site)
        some_wait, self.some_wait = self.some_wait, waiting
        orelse = self.block(s.orelse, site)
        self.some_wait = self.some_wait or some_wait
        out.append(replace(s, then=then, orelse=orelse))
        return self.placement.leaves_block((*s.then, *s.orelse)) and not site.last

    def _runs(self, s: If) -> tuple[range, range] | None:
        """The threads that go into each arm, where their numbers follow each other and all of
        them come out again."""
        inside = statements((s,))
        if not has_wait((s,)) or any(inner in self.placement.strips for inner in inside):
            return None
        if self.placement.leaves_block((*s.then, *s.orelse)):
            return None
        among = self.thread_range or range(self.masks.threads)
        then = self.facts.lanes.contiguous_threads(s.condition, among)
        orelse = (
            self.facts.lanes.contiguous_threads(negation(s.condition), among)
            if s.orelse
            else range(0)
        )
        return None if then is None or orelse is None else (then, orelse)

    def _in_runs(
        self, s: If, runs: tuple[range, range], out: list[Stmt], region: _Run, site: _Site
    ) -> None:
        """Only the threads of a run go into an arm: bounds of its thread loops."""
        self._close(out, region, site)
        outer = self.thread_range
        for self.thread_range, arm in zip(runs, (s.then, s.orelse)):
            if self.thread_range:
                out += self.block(arm, _Site(masked=True, loop=site.loop))
        self.thread_range = outer

    def _only_the_run(self, span: Span) -> Body:
        """Ends the threads that do not come here."""
        if self.thread_range is None:
            return ()
        thread = thread_index(span)
        below = binary(LT, thread, integer(self.thread_range.start, span), span)
        above = binary(GE, thread, integer(self.thread_range.stop, span), span)
        outside = [
            (below, self.thread_range.start),
            (above, self.masks.threads - self.thread_range.stop),
        ]
        ended = (NextWorkItem(span),)
        return tuple(If(condition, ended, (), span) for condition, some in outside if some)

    def _masked_if(self, s: If, out: list[Stmt], region: _Run, site: _Site) -> None:
        """Who does not go into ``then`` waits, then changes places with who did."""
        masks, skipped = self.masks, self.masks.new_code()
        otherwise, then, orelse = negation(s.condition), s.then, s.orelse
        if not then:
            otherwise, then, orelse = s.condition, s.orelse, ()
        region.body.append(If(otherwise, masks.deactivate(skipped, s.span), (), s.span))
        self._close(out, region, site, count=True)
        inner = _Site(masked=True, loop=site.loop)
        self.some_wait = True
        out.append(masks.if_any_live(self.block(then, inner), s.span))
        if orelse:
            region.resets.append(masks.swap_active(skipped, s.span))
            self._close(out, region, site, count=True)
            out.append(masks.if_any_live(self.block(orelse, inner), s.span))
        if not site.last:
            region.resets.append(masks.reactivate(skipped, s.span))

    def _masked_loop(self, s: While | For, out: list[Stmt], region: _Run, site: _Site) -> None:
        """Goes on while any thread does; who has left waits for the last one."""
        waits = _Waits(self.masks.new_code(), self.masks.new_code())
        released = [self.masks.reactivate(waits.continued, s.span)] if _jumps(s, Continue) else []
        if self.facts.agrees(*operands(s)):
            self.some_wait = True
            body = self._body(s, waits, asks=True)
            ends = self._until_none(_Run(released), s.span)
            out += self._in_strips(s, replace(s, body=(*body, *ends)))
            leaves = _jumps(s, Break)
        else:
            if isinstance(s, For):
                region.body.append(Declare(s.var, s.start, s.span))
            self._close(out, region, site)
            out += self._in_strips(s, self._going_while_any(s, waits, released))
            leaves = True
        if leaves and not site.last:
            region.resets.append(self.masks.reactivate(waits.broken, s.span))

    def _body(self, s: While | For, waits: _Waits, *, asks: bool) -> Body:
        """A masked loop's, where it is asked whether a thread runs if ``asks``."""
        outer, self.threads_leave = self.threads_leave, asks
        body = self.block(s.body, _Site(masked=True, loop=waits))
        self.threads_leave = outer
        return body

    def _in_strips(self, s: Stmt, placed: Stmt) -> Body:
        if s not in self.placement.strips:
            return (placed,)
        return (StripLoop((placed,), self.placement.strips[s], s.span),)

    def _going_while_any(self, s: While | For, waits: _Waits, released: list[Stmt]) -> Stmt:
        """A loop whose condition varies: each thread looks at it for itself."""
        self.some_wait = True
        ends = If(
            negation(continuation_condition(s)),
            self.masks.deactivate(waits.broken, s.span),
            (),
            s.span,
        )
        head = _Run([] if isinstance(s, For) else released, [ends])
        out = list(self._until_none(head, s.span))
        out += self._body(s, waits, asks=self.placement.leaves_block(s.body))
        if isinstance(s, For):
            step = Assign(s.var, binary(ADD, s.var, s.step, s.span), s.span)
            self._close(out, _Run(released, [step]), _Site(masked=True))
        return While(Const(True, WEAK_BOOL, s.span), tuple(out), s.span)

    def _until_none(self, region: _Run, span: Span) -> Body:
        """The check, once in each iteration, that some thread runs."""
        out: list[Stmt] = []
        if region.resets or region.body:  # else `live` is right
            self._close(out, region, _Site(masked=True), count=True)
        return (*out, self.masks.if_none_live((Break(span),), span))


def _jumps(s: Stmt, kind: type[Break] | type[Continue]) -> bool:
    """Whether a loop itself, not one inside it, has a break or continue."""
    inside = (inner for b in bodies(s) for inner in b if not isinstance(inner, While | For))
    return any(isinstance(inner, kind) or _jumps(inner, kind) for inner in inside)


def _must_follow(s: Stmt, before: list[Stmt], placement: Placement) -> bool:
    """Whether a scalar cannot be computed ahead of what threads do before it in the text."""
    assert isinstance(s, Assign | Declare)
    body = tuple(before)
    used = {inner.var.name for inner in statements(body) if isinstance(inner, Assign | Declare)}
    if s.var.name in used or s.var.name in names_in(*all_expressions(body)):
        return True
    parts = [e for value in operands(s) for e in expressions(value)]
    loads = any(isinstance(e, Load) for e in parts)
    divides = any(isinstance(e, Binary) and e.op in (QUOTIENT, REMAINDER) for e in parts)
    return (loads and _writes(body)) or ((loads or divides) and placement.leaves_block(body))


def _writes(body: Body) -> bool:
    """Whether a block may change memory."""
    if any(isinstance(s, Store | Evaluate) for s in statements(body)):
        return True
    return any(
        isinstance(e, Call) or (isinstance(e, Apply) and e.intrinsic.has_effect)
        for e in all_expressions(body)
    )
