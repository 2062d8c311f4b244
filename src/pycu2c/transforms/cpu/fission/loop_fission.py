"""Loop fission at barriers: split a kernel's body into work-item loops.

Before: the code of one thread, and a ``Placement`` of its statements. After: uniform control flow
around work-item loops without barriers; divergent constructs use per-thread states. Variables that
are live across regions are handled by ``context_arrays``. Reference: Karrenberg and Hack (2012);
pocl's parallel regions.
"""

from __future__ import annotations

from pycu2c.analysis.region_placement import Placement
from pycu2c.analysis.uniformity import Construct, Uniformity
from pycu2c.analysis.variables import defined_names, names_in
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, integer, negation
from pycu2c.ops.operators import ADD, C_DIV, C_REM, GE, LT
from pycu2c.transforms.cpu.barriers.block_reductions import (
    clear,
    contribution_array,
    reduce_contributions,
)
from pycu2c.transforms.cpu.simd.active_masks import RETURNED, ActiveMasks, thread_index
from pycu2c.transforms.cpu.simd.strip_loop_fusion import continuation_condition


@dataclass(frozen=True, slots=True)
class _WaitCodes:
    """State codes of threads that have left a masked loop, or its current iteration."""

    broken: int
    continued: int


@dataclass(frozen=True, slots=True)
class _Context:
    """Context of a block.

    ``masked``: the block is under a mask. ``loop``: the codes of the enclosing masked loop.
    ``ends_kernel``: the kernel ends with the block. ``repeats``: a loop repeats the block.
    """

    masked: bool = False
    loop: _WaitCodes | None = None
    ends_kernel: bool = False
    repeats: bool = False


@dataclass(slots=True)
class _PendingRegion:
    """The next work-item loop: reactivations first, then the statements of active threads.

    ``resets`` are the reactivations; ``out`` receives the statements of the block.
    """

    out: list[ir.Stmt]
    resets: list[ir.Stmt] = field(default_factory=list)
    body: list[ir.Stmt] = field(default_factory=list)


def split_at_barriers(
    body: ir.Body, uniformity: Uniformity, placement: Placement, masks: ActiveMasks, span: Span
) -> ir.Body:
    """Split a kernel's body into work-item loops and the uniform control flow around them."""
    fission = _Fission(uniformity, placement, masks, span, placement.leaves_body(body))
    return masks.with_initial_state(fission.block(body, _Context(ends_kernel=True)), span)


@dataclass(slots=True)
class _Fission:
    uniformity: Uniformity
    placement: Placement
    masks: ActiveMasks
    span: Span
    may_exit: bool  # whether threads may leave the kernel, or the enclosing masked loop, early
    some_inactive: bool = False  # whether some thread may be inactive at this point
    thread_range: range | None = None  # the threads that reach this point; None: all

    def block(self, body: ir.Body, context: _Context) -> ir.Body:
        """Split a block outside the work-item loops."""
        out: list[ir.Stmt] = []
        region = _PendingRegion(out)
        for i, s in enumerate(body):
            if isinstance(s, ir.BarrierWait):
                may_be_empty, rest = self._contribute(s, region, context), body[i + 1 :]
            else:
                must_close, rest = self._must_close(s, region), body[i:]
                may_be_empty = must_close and self._close_region(region, context)
            if may_be_empty and self._guard_rest(out, rest, context):
                return tuple(out)
            if isinstance(s, ir.BarrierWait):
                continue
            if isinstance(s, ir.Return | ir.Break | ir.Continue):
                (out if s in self.placement.block_jumps else region.body).append(s)
                break
            rest = body[i + 1 :]
            may_be_empty = self._add(
                s, region, replace(context, ends_kernel=context.ends_kernel and not rest)
            )
            if may_be_empty and self._guard_rest(out, rest, context):
                return tuple(out)
        if self._close_region(region, context, ends_kernel=context.ends_kernel):
            self._guard_rest(out, (), context)
        return tuple(out)

    def _must_close(self, s: ir.Stmt, region: _PendingRegion) -> bool:
        """Return whether the pending region must end before ``s``."""
        if s in self.placement.hoisted:  # divergent conditions are evaluated in the work-item loop
            return self.uniformity.agrees(*walk.operands(s))
        if self._is_scalar(s):
            return _must_follow(s, region.body, self.placement)
        return s in self.placement.block_jumps

    def _contribute(self, s: ir.BarrierWait, region: _PendingRegion, context: _Context) -> bool:
        """Store the contributions of each thread before the cut; the block then reduces them."""
        sums: list[ir.Stmt] = []
        for contribution in s.contributions:
            array = contribution.array
            if contribution.granularity is not ir.Granularity.THREAD:
                array = contribution_array(array, self.masks.threads)
                region.out += [ir.Allocate(array, s.span), *clear(array, s.span)]
                sums += reduce_contributions(contribution.array, array, s.span)
            region.body.append(ir.Store(array, (thread_index(s.span),), contribution.value, s.span))
        may_be_empty = bool(region.body) and self._close_region(region, context)
        region.out += sums
        return may_be_empty

    def _is_scalar(self, s: ir.Stmt) -> bool:
        return isinstance(s, ir.Assign | ir.Declare) and s.var.name in self.placement.scalars

    def _guard_rest(self, out: list[ir.Stmt], rest: ir.Body, context: _Context) -> bool:
        """Skip the rest if no thread is active; return True if ``rest`` was added."""
        if not context.masked:
            if rest or context.repeats:
                out.append(self.masks.if_none_active((ir.Return(None, self.span),), self.span))
            return False
        if rest_of_block := self.block(rest, context):
            out.append(self.masks.if_any_active(rest_of_block, self.span))
        return True

    def _add(self, s: ir.Stmt, region: _PendingRegion, context: _Context) -> bool:
        """Add one statement; return True if no thread may be active after it."""
        if self._is_scalar(s):
            region.out.append(s)
            return False
        if s not in self.placement.hoisted:
            region.body.append(s)
            return False
        assert isinstance(s, ir.If | ir.While | ir.For)
        if s not in self.placement.masked:
            return self._uniform_construct(s, region, context)
        some_inactive_before = self.some_inactive or self.placement.leaves_body(tuple(region.body))
        if (
            isinstance(s, ir.If)
            and not some_inactive_before
            and (arm_ranges := self._arm_ranges(s))
        ):
            self._split_by_range(s, arm_ranges, region, context)
            return False
        if isinstance(s, ir.If):
            self._masked_if(s, region, context)
            may_be_empty = self.placement.leaves_body((*s.then, *s.orelse))
        else:
            self._masked_loop(s, region, context)
            may_be_empty = self.placement.returns_early(s.body)
        self.some_inactive = some_inactive_before or may_be_empty
        if context.ends_kernel:
            return False
        others_may_have_left = self.may_exit and context.masked  # earlier, in a loop
        if may_be_empty or others_may_have_left:
            self._close_region(region, context, marks_active=True)
        elif self.may_exit:
            region.out.append(self.masks.set_any_active(True, s.span))
        return may_be_empty

    # ---- work-item loops ---------------------------------------------------------------------

    def _close_region(
        self,
        region: _PendingRegion,
        context: _Context,
        *,
        marks_active: bool = False,
        ends_kernel: bool = False,
    ) -> bool:
        """Emit the pending work-item loop; return True if no thread may be active after it."""
        may_be_empty = self.placement.leaves_body(tuple(region.body)) and not ends_kernel
        span = region.body[0].span if region.body else self.span
        body = (
            [*self._skip_other_threads(span), *region.resets]
            if region.resets or region.body or marks_active
            else []
        )
        if self.some_inactive and (region.body or marks_active):
            body.append(self.masks.inactive_guard(span))
        body += self._jumps_to_states(tuple(region.body), context.loop, ends_kernel)
        if marks_active or may_be_empty:
            region.out.append(self.masks.set_any_active(False, span))
            body.append(self.masks.mark_active(span))
        if body and isinstance(body[-1], ir.NextWorkItem):
            body.pop()
        if body:
            region.out.append(ir.WorkItemLoop(tuple(body), span))
        self.some_inactive = self.some_inactive or may_be_empty
        region.resets, region.body = [], []
        return may_be_empty

    def _jumps_to_states(
        self, body: ir.Body, loop: _WaitCodes | None, ends_kernel: bool
    ) -> ir.Body:
        """Replace jumps out of a work-item loop with states; jumps of nested loops stay."""
        out: list[ir.Stmt] = []
        for s in body:
            match s:
                case ir.Return(_, span) if ends_kernel:
                    out.append(ir.NextWorkItem(span))
                case ir.Return(_, span):
                    out += self.masks.deactivate(RETURNED, span)
                case ir.Break(span) if loop is not None:
                    out += self.masks.deactivate(loop.broken, span)
                case ir.Continue(span) if loop is not None:
                    out += self.masks.deactivate(loop.continued, span)
                case ir.While() | ir.For():
                    out.append(replace(s, body=self._jumps_to_states(s.body, None, ends_kernel)))
                case _:
                    inner = tuple(
                        self._jumps_to_states(b, loop, ends_kernel) for b in walk.bodies(s)
                    )
                    out.append(walk.with_bodies(s, inner))
        return tuple(out)

    # ---- hoisted constructs --------------------------------------------------------------------

    def _uniform_construct(self, s: Construct, region: _PendingRegion, context: _Context) -> bool:
        """Emit plain control flow: all running threads take the same path."""
        if not isinstance(s, ir.If):
            self.some_inactive = self.some_inactive or self.placement.returns_early(s.body)
            inner = _Context(context.masked, repeats=not context.masked)
            region.out.append(replace(s, body=self.block(s.body, inner)))
            return False  # if all threads return, so does the block
        some_inactive_before = self.some_inactive
        context = replace(context, repeats=False)
        then = self.block(s.then, context)
        some_inactive, self.some_inactive = self.some_inactive, some_inactive_before
        orelse = self.block(s.orelse, context)
        self.some_inactive = self.some_inactive or some_inactive
        region.out.append(replace(s, then=then, orelse=orelse))
        return self.placement.leaves_body((*s.then, *s.orelse)) and not context.ends_kernel

    def _arm_ranges(self, s: ir.If) -> tuple[range, range] | None:
        """Return the contiguous thread range of each arm, or None.

        Requires that all threads of an arm reach its end.
        """
        inner_statements = walk.statements((s,))
        if not walk.contains((s,), ir.BarrierWait) or any(
            inner in self.placement.strips for inner in inner_statements
        ):
            return None
        if self.placement.leaves_body((*s.then, *s.orelse)):
            return None
        candidates = self.thread_range or range(self.masks.threads)
        then = self.uniformity.lanes.contiguous_threads(s.condition, candidates)
        orelse = (
            self.uniformity.lanes.contiguous_threads(negation(s.condition), candidates)
            if s.orelse
            else range(0)
        )
        return None if then is None or orelse is None else (then, orelse)

    def _split_by_range(
        self,
        s: ir.If,
        arm_ranges: tuple[range, range],
        region: _PendingRegion,
        context: _Context,
    ) -> None:
        """Restrict the work-item loops of each arm to its threads."""
        self._close_region(region, context)
        outer_range = self.thread_range
        for self.thread_range, arm in zip(arm_ranges, (s.then, s.orelse)):
            if self.thread_range:
                region.out += self.block(arm, _Context(masked=True, loop=context.loop))
        self.thread_range = outer_range

    def _skip_other_threads(self, span: Span) -> ir.Body:
        """End the threads outside the current range."""
        if self.thread_range is None:
            return ()
        thread = thread_index(span)
        below = binary(LT, thread, integer(self.thread_range.start, span), span)
        above = binary(GE, thread, integer(self.thread_range.stop, span), span)
        excluded = [
            (below, self.thread_range.start),
            (above, self.masks.threads - self.thread_range.stop),
        ]
        end_thread = (ir.NextWorkItem(span),)
        return tuple(ir.If(condition, end_thread, (), span) for condition, n in excluded if n)

    def _masked_if(self, s: ir.If, region: _PendingRegion, context: _Context) -> None:
        """Deactivate threads that skip ``then``, and swap the active ones for ``orelse``."""
        masks, skip_code = self.masks, self.masks.new_code()
        inverted, then, orelse = negation(s.condition), s.then, s.orelse
        if not then:
            inverted, then, orelse = s.condition, s.orelse, ()
        region.body.append(ir.If(inverted, masks.deactivate(skip_code, s.span), (), s.span))
        self._close_region(region, context, marks_active=True)
        inner = _Context(masked=True, loop=context.loop)
        self.some_inactive = True
        region.out.append(masks.if_any_active(self.block(then, inner), s.span))
        if orelse:
            region.resets.append(masks.swap_active(skip_code, s.span))
            self._close_region(region, context, marks_active=True)
            region.out.append(masks.if_any_active(self.block(orelse, inner), s.span))
        if not context.ends_kernel:
            region.resets.append(masks.reactivate(skip_code, s.span))

    def _masked_loop(self, s: ir.While | ir.For, region: _PendingRegion, context: _Context) -> None:
        """Iterate while any thread is active; threads that leave wait for the last one."""
        wait_codes = _WaitCodes(self.masks.new_code(), self.masks.new_code())
        reactivations = (
            [self.masks.reactivate(wait_codes.continued, s.span)]
            if walk.has_jump(s.body, ir.Continue)
            else []
        )
        if self.uniformity.agrees(*walk.operands(s)):
            self.some_inactive = True
            body = self._masked_body(s, wait_codes, updates_any_active=True)
            exit_check = self._exit_if_none_active(_PendingRegion([], reactivations), s.span)
            region.out += self._wrap_in_strip(s, replace(s, body=(*body, *exit_check)))
            has_break = walk.has_jump(s.body, ir.Break)
        else:
            if isinstance(s, ir.For):
                region.body.append(ir.Declare(s.var, s.start, s.span))
            self._close_region(region, context)
            region.out += self._wrap_in_strip(s, self._divergent_loop(s, wait_codes, reactivations))
            has_break = True
        if has_break and not context.ends_kernel:
            region.resets.append(self.masks.reactivate(wait_codes.broken, s.span))

    def _masked_body(
        self, s: ir.While | ir.For, wait_codes: _WaitCodes, *, updates_any_active: bool
    ) -> ir.Body:
        """Split the body of a masked loop, which must set ``any_active`` if this is requested."""
        may_exit, self.may_exit = self.may_exit, updates_any_active
        body = self.block(s.body, _Context(masked=True, loop=wait_codes))
        self.may_exit = may_exit
        return body

    def _wrap_in_strip(self, s: ir.Stmt, lowered: ir.Stmt) -> ir.Body:
        if s not in self.placement.strips:
            return (lowered,)
        return (ir.StripLoop((lowered,), self.placement.strips[s], s.span),)

    def _divergent_loop(
        self, s: ir.While | ir.For, wait_codes: _WaitCodes, reactivations: list[ir.Stmt]
    ) -> ir.Stmt:
        """Emit a loop with a divergent condition, which each thread evaluates."""
        self.some_inactive = True
        exit_check = ir.If(
            negation(continuation_condition(s)),
            self.masks.deactivate(wait_codes.broken, s.span),
            (),
            s.span,
        )
        head = _PendingRegion([], [] if isinstance(s, ir.For) else reactivations, [exit_check])
        out = list(self._exit_if_none_active(head, s.span))
        may_exit = self.placement.leaves_body(s.body)
        out += self._masked_body(s, wait_codes, updates_any_active=may_exit)
        if isinstance(s, ir.For):
            step = ir.Assign(s.var, binary(ADD, s.var, s.step, s.span), s.span)
            self._close_region(_PendingRegion(out, reactivations, [step]), _Context(masked=True))
        return ir.While(ir.Const(True, WEAK_BOOL, s.span), tuple(out), s.span)

    def _exit_if_none_active(self, region: _PendingRegion, span: Span) -> ir.Body:
        """Emit the test, once per iteration, whether any thread is active."""
        if region.resets or region.body:  # otherwise ``any_active`` is current
            self._close_region(region, _Context(masked=True), marks_active=True)
        return (*region.out, self.masks.if_none_active((ir.Break(span),), span))


def _must_follow(s: ir.Stmt, preceding: list[ir.Stmt], placement: Placement) -> bool:
    """Return whether a scalar cannot be computed before the preceding thread code."""
    assert isinstance(s, ir.Assign | ir.Declare)
    body = tuple(preceding)
    if s.var.name in defined_names(body) or s.var.name in names_in(*walk.all_expressions(body)):
        return True
    nodes = [e for value in walk.operands(s) for e in walk.expressions(value)]
    loads = any(isinstance(e, ir.Load) for e in nodes)
    divides = any(isinstance(e, ir.Binary) and e.op in (C_DIV, C_REM) for e in nodes)
    return (loads and _writes(body)) or ((loads or divides) and placement.leaves_body(body))


def _writes(body: ir.Body) -> bool:
    """Return whether a block may change memory."""
    if walk.contains(body, ir.Store | ir.Evaluate):
        return True
    return any(
        isinstance(e, ir.Call) or (isinstance(e, ir.Apply) and e.intrinsic.has_effect)
        for e in walk.all_expressions(body)
    )
