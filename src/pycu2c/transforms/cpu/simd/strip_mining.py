"""Thread loops in strips -> as few as can be, without jumps: one loop over the lanes of a strip,
of which compilers make vectors.

``while True: live = 0; WorkItemLoop(leave if not c, live = 1); if live == 0: break; WorkItemLoop(b)``
-> ``while True: live = 0; WorkItemLoop(if c: live = 1; b else: leave); if live == 0: break``.
Knows the forms that ``regions`` makes, and nothing of what the threads compute.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.live_across_barriers import referenced_names
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import (
    Assign,
    Body,
    Break,
    Declare,
    Expr,
    If,
    NextWorkItem,
    Stmt,
    StripLoop,
    Unary,
    WorkItemLoop,
)
from pycu2c.ir.walk import all_expressions, bodies, map_stmt, statements, with_bodies
from pycu2c.ops.operators import NOT
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks


def fuse_lane_loops(body: Body, masks: ActiveMasks) -> Body:
    """A kernel's body with the thread loops of its strips put together."""
    joining = _Joining(masks)
    return tuple(
        replace(s, body=joining.block(s.body))
        if isinstance(s, StripLoop)
        else with_bodies(s, tuple(fuse_lane_loops(b, masks) for b in bodies(s)))
        for s in body
    )


@dataclass(frozen=True, slots=True)
class _Joining:
    masks: ActiveMasks

    def block(self, body: Body) -> Body:
        """A block of a strip: the lanes go one by one through what stands together."""
        out: list[Stmt] = []
        together: list[Stmt] = []
        for s in self._checked_last(body):
            if self._is_lane_work(s):
                together.append(s)
                continue
            out += self._joined(together)
            together = []
            out.append(with_bodies(s, tuple(self.block(b) for b in bodies(s))))
        return (*out, *self._joined(together))

    def _checked_last(self, body: Body) -> Body:
        """A loop asks whether a lane runs when those that run have done their work: if none
        does, they do nothing."""
        checks = [i for i, s in enumerate(body) if _leaves_loop(s)]
        if len(checks) != 1:
            return body
        before, after = body[: checks[0]], body[checks[0] + 1 :]
        if not all(map(self._is_lane_work, (*before, *after))):
            return body
        work = [self._uncounted(s) for s in after if isinstance(s, WorkItemLoop)]
        return (*before, *work, body[checks[0]])

    def _is_lane_work(self, s: Stmt) -> bool:
        return isinstance(s, WorkItemLoop) or self._sets_live(s)

    def _sets_live(self, s: Stmt) -> bool:
        return isinstance(s, Assign) and s.var.name == self.masks.live.name

    def _uncounted(self, loop: WorkItemLoop) -> WorkItemLoop:
        """Without the note that a lane runs."""
        return _without_notes(loop, self.masks)

    def _joined(self, together: Sequence[Stmt]) -> Body:
        loops = [s for s in together if isinstance(s, WorkItemLoop)]
        if not loops:
            return tuple(together)
        counting = [s for s in loops if any(map(self._sets_live, statements(s.body)))][-1:]
        work = [(s if s in counting else self._uncounted(s)).body for s in loops]
        resets = [s for s in together if self._sets_live(s)][:1]
        return (*resets, WorkItemLoop(self._in_turn(work), loops[0].span))

    def _in_turn(self, work: Sequence[Body]) -> Body:
        """What a lane does of one thread loop after the other."""
        *earlier, out = work
        for body in reversed(earlier):
            if out and self.masks.is_skip_inactive(out[0]):  # who was ended does nothing more
                checked = any(map(self.masks.is_skip_inactive, body))
                out = (*body, *(out[1:] if checked else out))
            else:
                out = (*self._straight(body), *out)
        return self._straight(out)

    def _straight(self, body: Body) -> Body:
        """Without jumps: what comes after one is what lanes do that still run."""
        for i, s in enumerate(body):
            if isinstance(s, NextWorkItem):
                return body[:i]
            if _jumps((s,)):
                assert isinstance(s, If), "in strips, loops stand outside of the thread loops"
                return (*body[:i], *self._parted(s, self._straight(body[i + 1 :])))
        return body

    def _parted(self, s: If, rest: Body) -> Body:
        """An if that ends some lanes, and what the others do."""
        then, orelse = self._straight(s.then), self._straight(s.orelse)
        if _ends(s.then) and not _jumps(s.orelse):
            return (_chosen(s.condition, then, (*orelse, *rest), s.span),)
        if _ends(s.orelse) and not _jumps(s.then):
            return (_chosen(s.condition, (*then, *rest), orelse, s.span),)
        checked = (If(self.masks.is_running(s.span), rest, (), s.span),) if rest else ()
        return (replace(s, then=then, orelse=orelse), *checked)


def _chosen(condition: Expr, then: Body, orelse: Body, span: Span) -> Stmt:
    if then and not (isinstance(condition, Unary) and condition.op is NOT):
        return If(condition, then, orelse, span)
    return If(negation(condition), orelse, then, span)


def _ends(body: Body) -> bool:
    """Whether all that come into a block are ended there."""
    return bool(body) and isinstance(body[-1], NextWorkItem)


def _jumps(body: Body) -> bool:
    return any(isinstance(s, NextWorkItem) for s in statements(body))


def _leaves_loop(s: Stmt) -> bool:
    return isinstance(s, If) and len(s.then) == 1 and isinstance(s.then[0], Break)


def remove_dead_live_flags(body: Body, masks: ActiveMasks) -> Body:
    """A kernel's body in which nobody notes that threads run where it is not asked."""
    left, _ = _trimmed(body, masks, asked=False)
    if masks.live.name in referenced_names(left):
        return left
    return tuple(s for s in left if not (isinstance(s, Declare) and s.var.name == masks.live.name))


def _trimmed(body: Body, masks: ActiveMasks, *, asked: bool) -> tuple[Body, bool]:
    """A block without notes that are in vain, and whether what comes before it is asked; of who
    is asked after it."""
    out: list[Stmt] = []
    for s in reversed(body):
        if isinstance(s, If):
            then, first = _trimmed(s.then, masks, asked=asked)
            orelse, second = _trimmed(s.orelse, masks, asked=asked)
            asked = first or second or masks.live.name in names_in(s.condition)
            out.append(replace(s, then=then, orelse=orelse))
            continue
        sets = isinstance(s, Assign) and s.var.name == masks.live.name
        if not isinstance(s, WorkItemLoop | StripLoop | Assign):
            asked = asked or masks.live.name in names_in(*all_expressions((s,)))
        if sets and not asked:
            continue
        if isinstance(s, WorkItemLoop) and not asked:
            s = _without_notes(s, masks)
        asked = asked and not sets
        out.append(s)
    return tuple(reversed(out)), asked


def _without_notes(loop: WorkItemLoop, masks: ActiveMasks) -> WorkItemLoop:
    def noted(s: Stmt) -> Body:
        return () if isinstance(s, Assign) and s.var.name == masks.live.name else (s,)

    return replace(loop, body=map_stmt(loop.body, noted))
