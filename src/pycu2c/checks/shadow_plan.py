"""Plan which memory of a kernel has shadows, which are hidden parameters of its functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from pycu2c.analysis.effects import needs_cooperative_launch, written_arguments
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Array, MemorySpace, uint64
from pycu2c.checks.barrier_skips import BarrierBits
from pycu2c.checks.block_synchronization import (
    has_untracked_accesses,
    needs_block_clocks,
    polled_by_function,
)
from pycu2c.checks.device_functions.shadow_words import (
    CELL_WORDS,
    SMALL_STATE_SIZE,
    STATE_SIZE,
    SYNC_CELL_WORDS,
)
from pycu2c.checks.function_cloning import ClonedModule
from pycu2c.checks.hidden_arrays import (
    ARRIVALS,
    BARRIERS,
    BLOCK_CLOCKS,
    BLOCK_INDEX,
    LANES,
    THREAD_STATE,
    HiddenArray,
)
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.checks.proofs.convergence import has_masks
from pycu2c.checks.proofs.kernel_proofs import Proofs
from pycu2c.checks.shadow_arrays import (
    Shadow,
    allocated_arrays,
    flags_of,
    of_region,
    shared_shadows,
    start_of,
)
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const
from pycu2c.ir.views import array_of
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import SUB


@dataclass(slots=True)
class ShadowPlan:
    """The shadows of a kernel.

    clones: the device functions with one caller, which have shadows too, by name. parameters: the
    hidden parameters of the kernel. has_untracked_accesses: whether functions that are not
    instrumented may synchronize by memory. compares_lanes: whether operations of some lanes of a
    warp order accesses. counts_grid_barriers: whether threads may not reach one of the grid.
    state_size: the words of the state of a thread. polled: the arrays that busy-wait loops read, by
    function.
    """

    kernel: str
    clones: Mapping[str, ir.Function]
    parameters: tuple[HiddenArray, ...]
    cluster: tuple[int, ...]
    has_untracked_accesses: bool
    compares_lanes: bool
    counts_grid_barriers: bool
    state_size: int
    polled: Mapping[str, Set[str]]
    shadows: dict[str, dict[str, Shadow]]  # by function and array
    hidden: dict[str, tuple[ir.Var, ...]] = field(default_factory=dict)  # parameters, by function

    @property
    def has_barriers(self) -> bool:
        """Whether the barriers of blocks are checked."""
        return BARRIERS in self.parameters

    @property
    def has_block_clocks(self) -> bool:
        """Whether the kernel needs the clocks of blocks."""
        return BLOCK_CLOCKS in self.parameters

    def reaches(self, function: str) -> bool:
        """Return whether a function has the state of the thread, and may have shared shadows."""
        return bool(self.parameters) and (function == self.kernel or function in self.clones)

    def hidden_arguments(self, call: ir.Call, caller: str) -> tuple[ir.Expr, ...]:
        """Return the arguments for the hidden parameters of a callee, which this declares."""
        callee = self.clones.get(call.function)
        if callee is None:
            return ()
        passed: list[ir.Var] = []
        if self.reaches(caller):
            passed = [THREAD_STATE, BLOCK_INDEX, *self._shared_in(callee)]
        hidden: list[tuple[ir.Var, ir.Expr]] = [(var, var) for var in passed]
        shadows = self.shadows[callee.name]
        for p, argument in zip(callee.parameters, call.arguments):
            array = array_of(argument)
            shadow = self.shadows[caller].get(array.name) if array is not None else None
            if shadow is not None:
                shadows[p.name], more = shadow.as_argument(p.name)
                hidden += more
        self.hidden[callee.name] = tuple(var for var, _ in hidden)
        return tuple(argument for _, argument in hidden)

    def _shared_in(self, function: ir.Function) -> Iterator[ir.Var]:
        """Yield the parameters that a function or its callees need, besides those of arguments."""
        needed = {p.var.name for p in (BARRIERS, ARRIVALS, LANES, BLOCK_CLOCKS)}
        for f in _with_callees(function, self.clones):
            needed |= {s.array.name for s in self.shadows[f.name].values()}
        yield from (p.var for p in self.parameters if p.region is None and p.var.name in needed)


def plan_shadows(
    cloned: ClonedModule,
    groups: frozenset[CheckGroup],
    regions: Sequence[MemoryRegion],
    proofs: Proofs,
    bounds_waiting: bool,
) -> ShadowPlan:
    """Plan the shadows of the arguments, and of the shared and local arrays of a kernel.

    bounds_waiting: whether threads wait for each other in memory first.
    """
    module, skips = cloned.module, proofs.skips if "sync" in groups else BarrierBits()
    clones = {f.name: f for f in module.device_functions if f.name in cloned.calls}
    planner = _Planner(module, clones, groups, proofs)
    planned = (*planner.shared_arrays(), *planner.arguments(regions))
    checks_barriers = "sync" in groups and not proofs.are_barriers_convergent
    compares_lanes = "race" in groups and bool(planned) and has_masks(module)
    needs_lanes = compares_lanes or bool(skips.skipped & skips.of_warp)
    needs_clocks = "race" in groups and needs_block_clocks(module)
    needed = {BARRIERS: checks_barriers, ARRIVALS: bounds_waiting}
    needed |= {s.parameter: True for s in planned} | {LANES: needs_lanes}
    needed[BLOCK_CLOCKS] = needs_clocks  # the last one, whose size depends on the others
    is_small = not (checks_barriers or needs_lanes or needs_clocks or skips.skipped)
    shadows = {f.name: dict(planner.local_arrays(f)) for f in module.functions}
    for s in planned:
        words = SYNC_CELL_WORDS if needs_clocks else CELL_WORDS
        shadows[s.function][s.array] = replace(s.shadow, word_count=words)
    return ShadowPlan(
        module.kernel.name,
        clones,
        tuple(p for p, is_needed in needed.items() if is_needed),
        module.cluster,
        has_untracked_accesses(module, clones),
        compares_lanes,
        checks_barriers and needs_cooperative_launch(module),
        SMALL_STATE_SIZE if is_small else STATE_SIZE,
        polled_by_function(module) if needs_clocks else {},
        shadows,
    )


class _PlannedShadow(NamedTuple):
    function: str
    array: str
    parameter: HiddenArray
    shadow: Shadow


class _Planner:
    """Plan the shadows of each kind of memory."""

    def __init__(
        self,
        module: ir.Module,
        clones: Mapping[str, ir.Function],
        groups: Set[CheckGroup],
        proofs: Proofs,
    ) -> None:
        self._module, self._clones, self._groups, self._proofs = module, clones, groups, proofs
        self._escaping = {f.name: self._arrays(f, self._passed_arrays) for f in module.functions}

    def _arrays(self, function: ir.Function, find: Callable[[ir.Function], set[str]]) -> set[str]:
        """Return what ``find`` returns of a function, and of the clones that it calls."""
        found = find(function)
        for e in all_expressions(function.body):
            callee = self._clones.get(e.function) if isinstance(e, ir.Call) else None
            if isinstance(e, ir.Call) and callee is not None:
                inner, arrays = self._arrays(callee, find), map(array_of, e.arguments)
                pairs = zip(callee.parameters, arrays)
                found |= {array.name for p, array in pairs if array and p.name in inner}
        return found

    def _passed_arrays(self, function: ir.Function) -> set[str]:
        """Return the arrays that a function passes to functions that are not instrumented."""
        expressions = all_expressions(function.body)
        calls = (
            e for e in expressions if isinstance(e, ir.Call) and not self._is_clone(e.function)
        )
        passed = (array_of(argument) for call in calls for argument in call.arguments)
        return {array.name for array in passed if array}

    def _is_clone(self, function: str) -> bool:
        return function in self._clones and self._clones[function].external_code is None

    def local_arrays(self, function: ir.Function) -> Iterator[tuple[str, Shadow]]:
        """Yield the flags of the local arrays that may be read before they are written."""
        proved = {name for f, name in self._proofs.initialized if f == function.name}
        unchecked = proved | self._escaping[function.name]
        for array in allocated_arrays(function, MemorySpace.LOCAL):
            if "init" in self._groups and array.name not in unchecked:
                yield array.name, flags_of(array)

    def shared_arrays(self) -> Iterator[_PlannedShadow]:
        if self._groups.isdisjoint(("race", "init")):
            return
        functions = tuple(_with_callees(self._module.kernel, self._clones))
        untracked = {f.name: self._arrays(f, _untracked_arrays) for f in functions}
        for function, array, p in shared_shadows(functions):
            is_proved = self._proofs.exempts(self._groups, (function, array.name))
            if not is_proved and array.name not in untracked[function]:
                is_initialized = array.name in self._escaping[function]
                shadow = Shadow(p.var, start_of(array), p.unit, BLOCK_INDEX, is_initialized)
                shadow = replace(shadow, cluster=self._module.cluster)
                yield _PlannedShadow(function, array.name, p, shadow)

    def arguments(self, regions: Iterable[MemoryRegion]) -> Iterator[_PlannedShadow]:
        kernel = self._module.kernel
        written, read = written_arguments(self._module), self._arrays(kernel, _read_arrays)
        arrays = {
            p.argument: ir.Var(p.name, p.type, THREAD_STATE.span)
            for p in kernel.parameters
            if isinstance(p.type, Array)
        }
        for region in regions:
            names = {arrays[position].name for position, _ in region.offsets}
            has_conflicts = len(names) > 1 or self._proofs.disjoint.isdisjoint(names)
            is_written = any(position in written for position, _ in region.offsets)
            may_race = "race" in self._groups and has_conflicts and is_written
            is_unwritten = region.is_unwritten and names.isdisjoint(self._escaping[kernel.name])
            checks_reads = "init" in self._groups and is_unwritten and not names.isdisjoint(read)
            p = of_region(region)
            for position, offset in region.offsets if may_race or checks_reads else ():
                array = arrays[position]
                start = const(offset, array.span, uint64)
                base = binary(SUB, start_of(array), start, array.span)
                shadow = Shadow(p.var, base, p.unit, is_initialized=not is_unwritten)
                yield _PlannedShadow(kernel.name, array.name, p, shadow)


def _with_callees(
    function: ir.Function, clones: Mapping[str, ir.Function]
) -> Iterator[ir.Function]:
    """Yield a function, and the clones that it calls."""
    yield function
    for e in all_expressions(function.body):
        if isinstance(e, ir.Call) and e.function in clones:
            yield from _with_callees(clones[e.function], clones)


def _read_arrays(function: ir.Function) -> set[str]:
    """Return the arrays of which a function may read elements."""
    accesses = ir.Load | ir.ElementOf
    return {e.array.name for e in all_expressions(function.body) if isinstance(e, accesses)}


def _untracked_arrays(function: ir.Function) -> set[str]:
    """Return the shared arrays of other blocks of a cluster whose accesses have no shadow.

    These are passed from or to other functions, or in dynamic shared memory.
    """
    expressions = list(all_expressions(function.body))
    stores = (s for s in statements(function.body) if isinstance(s, ir.Store))
    arrays = {array_of(e) for e in (*expressions, *(s.array for s in stores))}
    used = {array for array in arrays if array is not None and ir.in_cluster(array)}
    calls = (e for e in expressions if isinstance(e, ir.Call))
    passed = {array for call in calls for array in map(array_of, call.arguments)}
    parameters = {p.name for p in function.parameters}
    dynamic = {e for e in used if isinstance(e.type, Array) and e.type.shape is None}
    return {e.name for e in used if e in passed or e in dynamic or e.name in parameters}
