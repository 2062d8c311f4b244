"""Insert context arrays: store variables that are live across parallel regions for each thread.

``x = f(i)`` in one region, ``out[i] = x`` in a later one -> ``x[thread] = f(i)`` and ``i =
blockIdx.x * blockDim.x + threadIdx.x; out[i] = x[thread]``. A value that is cheap to compute is
rematerialized in each region instead of spilled. Requires the form WORK_ITEM_LOOPS
(``ir/forms.py``); guarantees that each loop declares or loads all that it reads. Uses
``analysis.liveness``. Reference: pocl's work-item loops and context arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from pycu2c.analysis.effects import is_rematerializable
from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.analysis.variables import assigned_names, declared_names, names_in, referenced_names
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import cast
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks, context_array, thread_index
from pycu2c.transforms.cpu.simd.if_conversion import if_convert, is_if_convertible_loop
from pycu2c.transforms.cpu.simd.lane_variables import (
    LaneVariable,
    context_array_name,
    lane_state,
    load_and_store_lanes,
    use_lane_variables,
)

MAX_REMATERIALIZED_NODES = 16  # larger expressions are spilled


def _work_item_loops(body: ir.Body) -> Iterator[ir.WorkItemLoop]:
    return (s for s in walk.statements(body) if isinstance(s, ir.WorkItemLoop))


def _block_scalars(body: ir.Body) -> set[str]:
    """Return the variables declared outside all work-item loops, counters included."""
    inner_statements = {s for loop in _work_item_loops(body) for s in walk.statements(loop.body)}
    outer_statements = (
        s
        for s in walk.statements(body)
        if isinstance(s, ir.Declare | ir.For) and s not in inner_statements
    )
    return {s.var.name for s in outer_statements}


def live_across_regions(body: ir.Body, shared: Set[str]) -> set[str]:
    """Return the per-thread variables that a work-item loop reads from another region.

    This includes reads from the loop's own previous execution. ``shared``: parameters and arrays,
    which are visible everywhere.
    """
    outer_names = _block_scalars(body) | shared
    return {
        n for loop in _work_item_loops(body) for n in upward_exposed_reads(loop.body)
    } - outer_names


def insert_context_arrays(body: ir.Body, shared: Set[str], masks: ActiveMasks) -> ir.Body:
    """Rewrite the work-item loops of a kernel so that each declares or loads what it reads."""
    variables = {s.var.name: s for s in walk.statements(body) if isinstance(s, ir.Declare)}
    lane_names = _names_in_strips(body)
    rematerialized = _rematerializable(
        body, variables, shared | (lane_names - _block_scalars(body))
    )
    spilled = [
        variables[name].var
        for name in sorted(live_across_regions(body, shared) - set(rematerialized))
    ]
    context_arrays: dict[str, ir.Var] = {}
    for v in (*spilled, *_arrays_live_across_regions(body)):
        renamed = replace(v, name=context_array_name(v.name)) if v.name in lane_names else v
        context_arrays[v.name] = context_array(renamed, masks.threads)
    outer_names = _block_scalars(body) | shared | set(context_arrays)
    lane_variables = [
        LaneVariable(v, context_arrays[v.name]) for v in spilled if v.name in lane_names
    ]
    insertion = _ContextArrayInsertion(
        context_arrays, rematerialized, variables, outer_names, lane_variables, masks
    )
    return (*(ir.Allocate(v, v.span) for v in context_arrays.values()), *insertion.block(body))


def _names_in_strips(body: ir.Body) -> set[str]:
    """Return the variables that the lanes of strips read or assign."""
    strips = (s for s in walk.statements(body) if isinstance(s, ir.StripLoop))
    return {
        name
        for s in strips
        for loop in _work_item_loops(s.body)
        for name in referenced_names(loop.body)
    }


def _arrays_live_across_regions(body: ir.Body) -> list[ir.Var]:
    """Return the local arrays used in a region other than the one that allocates them."""
    users: dict[str, set[ir.WorkItemLoop]] = {}
    declarations: dict[str, tuple[ir.Var, ir.WorkItemLoop]] = {}
    for loop in _work_item_loops(body):
        for name in referenced_names(loop.body):
            users.setdefault(name, set()).add(loop)
        for s in walk.statements(loop.body):
            if isinstance(s, ir.Allocate):
                declarations[s.var.name] = (s.var, loop)
    return [
        var
        for name, (var, allocating_loop) in declarations.items()
        if users.get(name, {allocating_loop}) != {allocating_loop}
    ]


def _rematerializable(
    body: ir.Body, variables: Mapping[str, ir.Declare], shared: Set[str]
) -> dict[str, ir.Declare]:
    """Return the variables with one cheap definition that depends on invariant values only."""
    changing = assigned_names(body)
    invariant = (_block_scalars(body) | shared) - changing
    result: dict[str, ir.Declare] = {}
    for name, s in variables.items():  # in program order: definitions precede uses
        if (
            name in changing
            or name in invariant
            or s.init is None
            or not _is_rematerializable(s.init)
        ):
            continue
        if all(n in invariant or n in result for n in names_in(s.init)):
            result[name] = s
    return result


def _is_rematerializable(value: ir.Expr) -> bool:
    is_short = len(walk.expressions(value)) <= MAX_REMATERIALIZED_NODES
    return is_short and is_rematerializable(value)


@dataclass(frozen=True, slots=True)
class _ContextArrayInsertion:
    """State of the rewrite.

    ``context_arrays``: spilled variables and local arrays. ``rematerialized``: definitions to
    repeat. ``outer_names``: names that a work-item loop need not declare.
    """

    context_arrays: Mapping[str, ir.Var]
    rematerialized: Mapping[str, ir.Declare]
    variables: Mapping[str, ir.Declare]
    outer_names: Set[str]
    lane_variables: Sequence[LaneVariable]  # variables of lanes in strips
    masks: ActiveMasks

    def block(self, body: ir.Body, strip: ir.StripLoop | None = None) -> ir.Body:
        """Rewrite a block outside the work-item loops, inside a strip or not."""
        out: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.StripLoop):
                out.append(replace(s, body=self.block(s.body, s)))
                continue
            if not isinstance(s, ir.WorkItemLoop):
                out.append(walk.map_bodies(s, lambda b: self.block(b, strip)))
                continue
            loop_body = self._with_declarations(s.body)
            if strip:
                new_body = self._lane_loop(s, loop_body, strip)
            else:
                new_body = self._statements(loop_body)
            out += (ir.WorkItemLoop(new_body, s.span),) if new_body else ()
        return tuple(out)

    def _lane_loop(self, loop: ir.WorkItemLoop, body: ir.Body, strip: ir.StripLoop) -> ir.Body:
        lane_names = {v.var.name for v in self.lane_variables}
        other_arrays = {
            name: array for name, array in self.context_arrays.items() if name not in lane_names
        }
        lane_variables = (*self.lane_variables, lane_state(self.masks))
        lane_body = use_lane_variables(body, lane_variables)
        if is_if_convertible_loop(strip, loop):
            context_arrays = {
                v.lane_value.name for v in self.lane_variables if v.var.name in strip.live_out
            }
            state = lane_variables[-1].var
            lane_body = (
                if_convert(lane_body, state, self.masks.any_active.name, context_arrays)
                or lane_body
            )
        return replace(self, context_arrays=other_arrays)._statements(
            load_and_store_lanes(lane_body, lane_variables)
        )

    def _with_declarations(self, body: ir.Body) -> ir.Body:
        """Return the body of a work-item loop with the declarations that it needs."""
        body = self._drop_unused(body)
        missing = self._needed_names(body) - self.outer_names - declared_names(body)
        missing_declarations = [
            replace(s, init=s.init if name in self.rematerialized else None)
            for name, s in self.variables.items()
            if name in missing
        ]
        uses = (i for i, s in enumerate(body) if referenced_names((s,)) - self.outer_names)
        first_use = next(uses, 0)
        return (*body[:first_use], *missing_declarations, *body[first_use:])

    def _drop_unused(self, body: ir.Body) -> ir.Body:
        """Drop unused declarations until none is left."""
        used = referenced_names(body)
        remaining = tuple(s for s in body if not self._is_unused(s, used))
        return remaining if len(remaining) == len(body) else self._drop_unused(remaining)

    def _is_unused(self, s: ir.Stmt, used: Set[str]) -> bool:
        """Return whether a declaration is not used in its work-item loop."""
        if not isinstance(s, ir.Declare) or s.var.name in used or s.var.name in self.context_arrays:
            return False
        return s.init is None or _is_rematerializable(s.init)

    def _needed_names(self, body: ir.Body) -> set[str]:
        """Return the names that a body references, and those needed to rematerialize them."""
        result: set[str] = set()
        worklist = referenced_names(body)
        while worklist:
            name = worklist.pop()
            result.add(name)
            if name in self.rematerialized:
                init = self.rematerialized[name].init
                assert init is not None
                worklist |= set(names_in(init)) - result
        return result

    # ---- loads and stores ----------------------------------------------------------------------

    def _statements(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self._statement(s))

    def _statement(self, s: ir.Stmt) -> ir.Body:
        s = walk.map_operands(s, self._expr)
        s = walk.map_bodies(s, self._statements)
        match s:
            case ir.Declare(var, init, span) if var.name in self.context_arrays:
                return () if init is None else (self._store(var, init, s),)
            case ir.Assign(var, value) if var.name in self.context_arrays:
                return (self._store(var, value, s),)
            case ir.Allocate(var) if var.name in self.context_arrays:
                return ()
            case ir.Store(array, indices, _, span) if (
                array.name in self.context_arrays and _is_local(array)
            ):
                target = self.context_arrays[array.name]
                return (replace(s, array=target, indices=(thread_index(span), *indices)),)
            case _:
                return (s,)

    def _store(self, var: ir.Var, value: ir.Expr, s: ir.Stmt) -> ir.Stmt:
        """Store to a context array; weak numbers are converted to the element type."""
        target = self.context_arrays[var.name]
        assert isinstance(target.type, Array)
        return ir.Store(target, (thread_index(s.span),), cast(value, target.type.element), s.span)

    def _expr(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Var(name, type_, span) if name in self.context_arrays:
                context_array, thread = self.context_arrays[name], thread_index(span)
                if isinstance(type_, Scalar):
                    return cast(ir.Load(context_array, (thread,), span), type_)
                first_element = (ir.Const(0, WEAK_INT, span),) * type_.ndim
                return ir.ElementOf(context_array, (thread, *first_element), span)
            case ir.Load(array) | ir.ElementOf(array):
                new = walk.with_children(e, (array, *(self._expr(i) for i in walk.children(e)[1:])))
                assert isinstance(new, ir.Load | ir.ElementOf)
                if array.name in self.context_arrays and _is_local(array):
                    indices = (thread_index(e.span), *new.indices)
                    return replace(new, array=self.context_arrays[array.name], indices=indices)
                return new
            case ir.Dim(array) | ir.Stride(array):
                if array.name in self.context_arrays:
                    return replace(e, array=self.context_arrays[array.name], axis=e.axis + 1)
                return e
            case _:
                return walk.map_children(e, self._expr)


def _is_local(array: ir.Var) -> bool:
    return ir.memory_space(array) is MemorySpace.LOCAL
