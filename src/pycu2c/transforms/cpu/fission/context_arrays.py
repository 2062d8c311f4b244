"""Gives what lives from one thread loop to another a place: computed anew where it is read, if
that is cheap, else an array with one slot for each thread.

``x = f(i)`` here, ``out[i] = x`` in a later thread loop -> ``x[thread] = f(i)``,
``i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = x[thread]``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.fp_contraction import may_be_contracted
from pycu2c.analysis.live_across_barriers import (
    block_scalars,
    declared_names,
    referenced_names,
    upward_exposed_reads,
    work_item_loops_in,
)
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir.builders import cast
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Binary,
    Body,
    Cast,
    Const,
    Declare,
    Dim,
    ElementOf,
    Expr,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Stride,
    StripLoop,
    Unary,
    Var,
    WorkItemLoop,
)
from pycu2c.ir.walk import (
    bodies,
    children,
    expressions,
    operands,
    statements,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.ops.operators import QUOTIENT, REMAINDER
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks, context_array, thread_index
from pycu2c.transforms.cpu.simd.if_conversion import if_convert, is_if_convertible_loop
from pycu2c.transforms.cpu.simd.lane_variables import (
    LaneVariable,
    context_array_name,
    lane_state,
    load_and_store_lanes,
    use_lane_variables,
)

CHEAP = 16  # nodes of an expression that is rather computed again than kept


def live_across_regions(body: Body, shared: Set[str]) -> set[str]:
    """The per-thread variables that a thread loop has from another one, or from its last run.
    ``shared``: parameters and arrays, which are everywhere."""
    outside = block_scalars(body) | shared
    return {
        n for loop in work_item_loops_in(body) for n in upward_exposed_reads(loop.body)
    } - outside


def insert_context_arrays(body: Body, shared: Set[str], masks: ActiveMasks) -> Body:
    """Rewrite the thread loops of a kernel's body so that each finds what it reads."""
    variables = {s.var.name: s for s in statements(body) if isinstance(s, Declare)}
    lanes = _in_strips(body)
    again = _computed_again(body, variables, shared | (lanes - block_scalars(body)))
    wanted = [
        variables[name].var for name in sorted(live_across_regions(body, shared) - set(again))
    ]
    kept: dict[str, Var] = {}
    for v in (*wanted, *_crossing_arrays(body)):
        named = replace(v, name=context_array_name(v.name)) if v.name in lanes else v
        kept[v.name] = context_array(named, masks.threads)
    outside = block_scalars(body) | shared | set(kept)
    lane_variables = [LaneVariable(v, kept[v.name]) for v in wanted if v.name in lanes]
    private = _Private(kept, again, variables, outside, lane_variables, masks)
    return (*(Allocate(v, v.span) for v in kept.values()), *private.block(body))


def _in_strips(body: Body) -> set[str]:
    """The variables that the lanes of strips read or set."""
    strips = (s for s in statements(body) if isinstance(s, StripLoop))
    return {
        name
        for s in strips
        for loop in work_item_loops_in(s.body)
        for name in referenced_names(loop.body)
    }


def _crossing_arrays(body: Body) -> list[Var]:
    """The local arrays that are used in another thread loop than the one that begins them."""
    users: dict[str, set[WorkItemLoop]] = {}
    homes: dict[str, tuple[Var, WorkItemLoop]] = {}
    for loop in work_item_loops_in(body):
        for name in referenced_names(loop.body):
            users.setdefault(name, set()).add(loop)
        for s in statements(loop.body):
            if isinstance(s, Allocate):
                homes[s.var.name] = (s.var, loop)
    return [var for name, (var, home) in homes.items() if users.get(name, {home}) != {home}]


def _computed_again(
    body: Body, variables: Mapping[str, Declare], shared: Set[str]
) -> dict[str, Declare]:
    """The variables with one cheap value, made of others that never change."""
    changing = {s.var.name for s in statements(body) if isinstance(s, Assign)}
    steady = (block_scalars(body) | shared) - changing
    found: dict[str, Declare] = {}
    for name, s in variables.items():  # in the order of the text: what a value needs is before it
        if name in changing or name in steady or s.init is None or not _is_cheap(s.init):
            continue
        if all(n in steady or n in found for n in names_in(s.init)):
            found[name] = s
    return found


def _is_cheap(value: Expr) -> bool:
    parts = list(expressions(value))
    return len(parts) <= CHEAP and all(_is_cheap_node(e) for e in parts)


def _is_cheap_node(e: Expr) -> bool:
    match e:
        case Binary(op, _, right):
            plain = op not in (QUOTIENT, REMAINDER) or isinstance(right, Const)
            return plain and not may_be_contracted(e)
        case Apply(intrinsic, arguments):
            return intrinsic.is_pure and not arguments
        case _:
            return isinstance(e, Const | Var | Unary | Cast | Logical | Select | Dim | Stride)


@dataclass(frozen=True, slots=True)
class _Private:
    """``kept``: variables and local arrays with a slot for each thread. ``again``: variables to
    be computed anew. ``outside``: all that a thread loop need not declare."""

    kept: Mapping[str, Var]
    again: Mapping[str, Declare]
    variables: Mapping[str, Declare]
    outside: Set[str]
    lane_variables: Sequence[LaneVariable]  # what lanes of strips have in variables while they run
    masks: ActiveMasks

    def block(self, body: Body, strips: StripLoop | None = None) -> Body:
        """A block outside the thread loops, in strips or not."""
        out: list[Stmt] = []
        for s in body:
            if not isinstance(s, WorkItemLoop):
                inside = s if isinstance(s, StripLoop) else strips
                out.append(with_bodies(s, tuple(self.block(b, inside) for b in bodies(s))))
                continue
            whole = self._whole(s.body)
            found = self._of_lanes(s, whole, strips) if strips else self._statements(whole)
            out += (WorkItemLoop(found, s.span),) if found else ()
        return tuple(out)

    def _of_lanes(self, loop: WorkItemLoop, body: Body, strips: StripLoop) -> Body:
        own = {s.var.name for s in self.lane_variables}
        others = {name: array for name, array in self.kept.items() if name not in own}
        lane_variables = (*self.lane_variables, lane_state(self.masks))
        work = use_lane_variables(body, lane_variables)
        if is_if_convertible_loop(strips, loop):
            kept = {s.own.name for s in self.lane_variables if s.var.name in strips.live_out}
            state = lane_variables[-1].var
            work = if_convert(work, state, self.masks.live.name, kept) or work
        return replace(self, kept=others)._statements(load_and_store_lanes(work, lane_variables))

    def _whole(self, body: Body) -> Body:
        """The body of a thread loop with what it has to declare."""
        body = self._without_idle(body)
        missing = self._needed(body) - self.outside - declared_names(body)
        openings = [
            replace(s, init=s.init if name in self.again else None)
            for name, s in self.variables.items()
            if name in missing
        ]
        first = next((i for i, s in enumerate(body) if referenced_names((s,)) - self.outside), 0)
        return (*body[:first], *openings, *body[first:])

    def _without_idle(self, body: Body) -> Body:
        """One declaration may have served another that is not needed."""
        used = referenced_names(body)
        busy = tuple(s for s in body if not self._is_idle(s, used))
        return busy if len(busy) == len(body) else self._without_idle(busy)

    def _is_idle(self, s: Stmt, used: Set[str]) -> bool:
        """A declaration that this thread loop makes no use of."""
        if not isinstance(s, Declare) or s.var.name in used or s.var.name in self.kept:
            return False
        return s.init is None or _is_cheap(s.init)

    def _needed(self, body: Body) -> set[str]:
        """What a block mentions, and what computing that anew needs."""
        found: set[str] = set()
        waiting = referenced_names(body)
        while waiting:
            name = waiting.pop()
            found.add(name)
            if name in self.again:
                init = self.again[name].init
                assert init is not None
                waiting |= set(names_in(init)) - found
        return found

    # ---- slots ---------------------------------------------------------------------------------

    def _statements(self, body: Body) -> Body:
        return tuple(new for s in body for new in self._statement(s))

    def _statement(self, s: Stmt) -> Body:
        s = with_operands(s, tuple(self._expr(e) for e in operands(s)))
        s = with_bodies(s, tuple(self._statements(b) for b in bodies(s)))
        match s:
            case Declare(var, init, span) if var.name in self.kept:
                return () if init is None else (self._store(var, init, s),)
            case Assign(var, value) if var.name in self.kept:
                return (self._store(var, value, s),)
            case Allocate(var) if var.name in self.kept:
                return ()
            case Store(array, indices, _, span) if array.name in self.kept and _is_local(array):
                own = self.kept[array.name]
                return (replace(s, array=own, indices=(thread_index(span), *indices)),)
            case _:
                return (s,)

    def _store(self, var: Var, value: Expr, s: Stmt) -> Stmt:
        """Elements are strong: a weak number is converted on its way in and out."""
        own = self.kept[var.name]
        assert isinstance(own.type, Array)
        return Store(own, (thread_index(s.span),), cast(value, own.type.element), s.span)

    def _expr(self, e: Expr) -> Expr:
        match e:
            case Var(name, type_, span) if name in self.kept:
                own, here = self.kept[name], thread_index(span)
                if isinstance(type_, Scalar):
                    return cast(Load(own, (here,), span), type_)
                first = (Const(0, WEAK_INT, span),) * type_.ndim
                return ElementOf(own, (here, *first), span)
            case Load(array) | ElementOf(array):
                new = with_children(e, (array, *(self._expr(i) for i in children(e)[1:])))
                assert isinstance(new, Load | ElementOf)
                if array.name in self.kept and _is_local(array):
                    indices = (thread_index(e.span), *new.indices)
                    return replace(new, array=self.kept[array.name], indices=indices)
                return new
            case Dim(array) | Stride(array):
                if array.name in self.kept:
                    return replace(e, array=self.kept[array.name], axis=e.axis + 1)
                return e
            case _:
                return with_children(e, tuple(self._expr(child) for child in children(e)))


def _is_local(array: Var) -> bool:
    return isinstance(array.type, Array) and array.type.space is MemorySpace.LOCAL
