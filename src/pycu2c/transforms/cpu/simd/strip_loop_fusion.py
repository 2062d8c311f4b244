"""Strip-mine divergent loops: fuse the work-item loops of a strip into one loop over its lanes.

A lane that leaves the loop sets its state and goes to the next work item. Before::

    while True:
        any_active = 0
        WorkItemLoop(if not c: leave; any_active = 1)
        if any_active == 0: break
        WorkItemLoop(b)

After::

    while True:
        any_active = 0
        WorkItemLoop(if c: any_active = 1; b else: leave)
        if any_active == 0: break

Jumps become conditions, so C compilers vectorize the loop. Requires the output of ``loop_fission``.
The transformation does not depend on the loop body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from pycu2c.analysis.variables import names_in, referenced_names
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const, logical, negation, scalar_type
from pycu2c.ir.walk import all_expressions, contains, map_bodies, map_stmt, statements
from pycu2c.ops.operators import ADD, GT, LT, NOT
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks
from pycu2c.transforms.cpu.simd.if_conversion import selects_wide_floats


def use_lane_counters(
    body: ir.Body, loops: Mapping[ir.Stmt, Set[str]], fresh: Callable[[str], str]
) -> ir.Body:
    """Convert if-convertible ``for`` loops to ``while`` loops with a counter in each lane.

    ``for k in range(n): if c: break`` -> ``next = 0; while next < n: k = next; next = next + 1; if
    c: break``. ``loops`` maps each strip-mined loop to the variables that are live after it.
    """
    out: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.For) and s in loops and _is_if_convertible(s, loops[s]):
            out += _to_while(s, fresh)
        elif s in loops:
            out.append(s)
        else:
            out.append(map_bodies(s, lambda b: use_lane_counters(b, loops, fresh)))
    return tuple(out)


def _is_if_convertible(loop: ir.For, live_out: Set[str]) -> bool:
    has_inner_loops = contains(loop.body, ir.While | ir.For)
    return not has_inner_loops and not selects_wide_floats(loop.body, live_out)


def _to_while(s: ir.For, fresh: Callable[[str], str]) -> ir.Body:
    counter = replace(s.var, name=fresh("next"), span=s.span)
    condition = continuation_condition(replace(s, var=counter))
    step = ir.Assign(counter, binary(ADD, counter, s.step, s.span), s.span)
    body = (ir.Declare(s.var, counter, s.span), step, *s.body)
    return (ir.Declare(counter, s.start, s.span), ir.While(condition, body, s.span))


def continuation_condition(s: ir.While | ir.For) -> ir.Expr:
    """Return the condition of a loop; that of a variable step covers both directions."""
    if isinstance(s, ir.While):
        return s.condition
    zero = const(0, s.span, scalar_type(s.step))
    ascending = binary(LT, s.var, s.stop, s.span)
    descending = binary(GT, s.var, s.stop, s.span)
    if isinstance(s.step, ir.Const):
        return ascending if s.step.value > 0 else descending
    ascending = logical(ir.LogicalOp.AND, binary(GT, s.step, zero, s.span), ascending, s.span)
    descending = logical(ir.LogicalOp.AND, binary(LT, s.step, zero, s.span), descending, s.span)
    return logical(ir.LogicalOp.OR, ascending, descending, s.span)


def fuse_lane_loops(body: ir.Body, masks: ActiveMasks) -> ir.Body:
    """Fuse the work-item loops in the strips of a kernel's body."""
    fusion = _LaneLoopFusion(masks)
    return tuple(
        replace(s, body=fusion.block(s.body))
        if isinstance(s, ir.StripLoop)
        else map_bodies(s, lambda b: fuse_lane_loops(b, masks))
        for s in body
    )


@dataclass(frozen=True, slots=True)
class _LaneLoopFusion:
    masks: ActiveMasks

    def block(self, body: ir.Body) -> ir.Body:
        """Fuse adjacent work-item loops of a block of a strip."""
        out: list[ir.Stmt] = []
        group: list[ir.Stmt] = []
        for s in self._move_check_to_end(body):
            if self._is_fusible(s):
                group.append(s)
                continue
            out += self._fuse(group)
            group = []
            out.append(map_bodies(s, self.block))
        return (*out, *self._fuse(group))

    def _move_check_to_end(self, body: ir.Body) -> ir.Body:
        """Move the test for active lanes to the end of the loop body.

        If no lane is active, the body has no effect.
        """
        checks = [i for i, s in enumerate(body) if _is_loop_exit(s)]
        if len(checks) != 1:
            return body
        preceding, following = body[: checks[0]], body[checks[0] + 1 :]
        if not all(map(self._is_fusible, (*preceding, *following))):
            return body
        loops = [self._without_any_active(s) for s in following if isinstance(s, ir.WorkItemLoop)]
        return (*preceding, *loops, body[checks[0]])

    def _is_fusible(self, s: ir.Stmt) -> bool:
        return isinstance(s, ir.WorkItemLoop) or self._sets_any_active(s)

    def _sets_any_active(self, s: ir.Stmt) -> bool:
        return isinstance(s, ir.Assign) and s.var.name == self.masks.any_active.name

    def _without_any_active(self, loop: ir.WorkItemLoop) -> ir.WorkItemLoop:
        """Drop the assignments of ``any_active``."""
        return _drop_any_active(loop, self.masks)

    def _fuse(self, group: Sequence[ir.Stmt]) -> ir.Body:
        loops = [s for s in group if isinstance(s, ir.WorkItemLoop)]
        if not loops:
            return tuple(group)
        last_setter = next(
            (s for s in reversed(loops) if any(map(self._sets_any_active, statements(s.body)))),
            None,
        )
        bodies = [(s if s is last_setter else self._without_any_active(s)).body for s in loops]
        resets = [s for s in group if self._sets_any_active(s)][:1]
        return (*resets, ir.WorkItemLoop(self._concatenate(bodies), loops[0].span))

    def _concatenate(self, bodies: Sequence[ir.Body]) -> ir.Body:
        """Concatenate the bodies of several work-item loops for one lane."""
        *earlier, out = bodies
        for body in reversed(earlier):
            if out and self.masks.is_inactive_guard(out[0]):  # inactive lanes skip the rest
                has_skip = any(map(self.masks.is_inactive_guard, body))
                out = (*body, *(out[1:] if has_skip else out))
            else:
                out = (*self._without_jumps(body), *out)
        return self._without_jumps(out)

    def _without_jumps(self, body: ir.Body) -> ir.Body:
        """Replace jumps by conditions around the code of the remaining lanes."""
        for i, s in enumerate(body):
            if isinstance(s, ir.NextWorkItem):
                return body[:i]
            if _has_jump((s,)):
                assert isinstance(s, ir.If), "in strips, loops are outside of the work-item loops"
                return (*body[:i], *self._split_if(s, self._without_jumps(body[i + 1 :])))
        return body

    def _split_if(self, s: ir.If, rest: ir.Body) -> ir.Body:
        """Replace the jumps of an ``if``; only lanes that do not jump execute ``rest``."""
        then, orelse = self._without_jumps(s.then), self._without_jumps(s.orelse)
        if _always_ends(s.then) and not _has_jump(s.orelse):
            return (_normalized_if(s.condition, then, (*orelse, *rest), s.span),)
        if _always_ends(s.orelse) and not _has_jump(s.then):
            return (_normalized_if(s.condition, (*then, *rest), orelse, s.span),)
        guarded = (ir.If(self.masks.running_condition(s.span), rest, (), s.span),) if rest else ()
        return (replace(s, then=then, orelse=orelse), *guarded)


def _normalized_if(condition: ir.Expr, then: ir.Body, orelse: ir.Body, span: Span) -> ir.Stmt:
    """Return an ``if``; negate the condition if ``then`` is empty or the condition is a ``not``."""
    if then and not (isinstance(condition, ir.Unary) and condition.op is NOT):
        return ir.If(condition, then, orelse, span)
    return ir.If(negation(condition), orelse, then, span)


def _always_ends(body: ir.Body) -> bool:
    """Return whether all lanes that enter a block jump to the next work item."""
    return bool(body) and isinstance(body[-1], ir.NextWorkItem)


def _has_jump(body: ir.Body) -> bool:
    return contains(body, ir.NextWorkItem)


def _is_loop_exit(s: ir.Stmt) -> bool:
    return isinstance(s, ir.If) and len(s.then) == 1 and isinstance(s.then[0], ir.Break)


def remove_dead_any_active(body: ir.Body, masks: ActiveMasks) -> ir.Body:
    """Remove assignments of ``any_active`` that are never read."""
    remaining, _ = _remove_flags(body, masks, is_read=False)
    if masks.any_active.name in referenced_names(remaining):
        return remaining
    return tuple(
        s
        for s in remaining
        if not (isinstance(s, ir.Declare) and s.var.name == masks.any_active.name)
    )


def _remove_flags(body: ir.Body, masks: ActiveMasks, *, is_read: bool) -> tuple[ir.Body, bool]:
    """Remove dead assignments of ``any_active``; return whether it is read before it is set."""
    out: list[ir.Stmt] = []
    for s in reversed(body):
        if isinstance(s, ir.If):
            then, read_in_then = _remove_flags(s.then, masks, is_read=is_read)
            orelse, read_in_else = _remove_flags(s.orelse, masks, is_read=is_read)
            is_read = read_in_then or read_in_else or masks.any_active.name in names_in(s.condition)
            out.append(replace(s, then=then, orelse=orelse))
            continue
        sets_any_active = isinstance(s, ir.Assign) and s.var.name == masks.any_active.name
        if not isinstance(s, ir.WorkItemLoop | ir.StripLoop | ir.Assign):
            is_read = is_read or masks.any_active.name in names_in(*all_expressions((s,)))
        if sets_any_active and not is_read:
            continue
        if isinstance(s, ir.WorkItemLoop) and not is_read:
            s = _drop_any_active(s, masks)
        is_read = is_read and not sets_any_active
        out.append(s)
    return tuple(reversed(out)), is_read


def _drop_any_active(loop: ir.WorkItemLoop, masks: ActiveMasks) -> ir.WorkItemLoop:
    def drop(s: ir.Stmt) -> ir.Body:
        return () if isinstance(s, ir.Assign) and s.var.name == masks.any_active.name else (s,)

    return replace(loop, body=map_stmt(loop.body, drop))
