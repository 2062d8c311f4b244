"""Plan how shadows reach the functions of a kernel, as hidden parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from pycu2c.analysis.effects import needs_cooperative_launch, written_arguments
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Array, MemorySpace, uint64
from pycu2c.checks.block_order import has_unknown_accesses, needs_block_clocks
from pycu2c.checks.device_functions.shadow_words import (
    CELL_WORDS,
    SMALL_STATE_SIZE,
    STATE_SIZE,
    SYNC_CELL_WORDS,
)
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.checks.proofs.convergence import has_masks
from pycu2c.checks.proofs.kernel_proofs import Proofs
from pycu2c.checks.shadow_arrays import (
    BARRIERS,
    BLOCK_CLOCKS,
    BLOCK_INDEX,
    LANES,
    THREAD_STATE,
    Shadow,
    ShadowParameter,
    allocated_arrays,
    flags_of,
    of_region,
    shared_shadows,
    start_of,
)
from pycu2c.checks.waiting import ARRIVALS
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.operators import SUB


@dataclass(slots=True)
class ShadowPlan:
    """The shadows of a kernel.

    kernel: its name. callees: the device functions with one caller, which have shadows too, by
    name. parameters: the hidden parameters of the kernel. compares_lanes: whether operations of
    some lanes of a warp order accesses. counts_grid_barriers: whether threads may not reach one of
    the grid. state_size: the words of the clock of a thread.
    """

    kernel: str
    callees: Mapping[str, ir.Function]
    parameters: tuple[ShadowParameter, ...]
    cluster: tuple[int, ...]
    has_unknown_accesses: bool
    compares_lanes: bool
    counts_grid_barriers: bool
    state_size: int
    shadows: dict[str, dict[str, Shadow]] = field(default_factory=dict)  # by function and array
    polled: Mapping[str, Set[str]] = field(default_factory=dict)  # arrays, by function
    block_level: Set[str] = frozenset()  # functions
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
        """Return whether a function has a clock, and may have shadows of shared memory."""
        return bool(self.parameters) and (function == self.kernel or function in self.callees)

    def hidden_arguments(self, call: ir.Call, caller: str) -> tuple[ir.Expr, ...]:
        """Return the arguments for the hidden parameters of a callee, which this declares."""
        callee = self.callees.get(call.function)
        if callee is None:
            return ()
        passed: list[ir.Var] = []
        if self.reaches(caller):
            passed = [THREAD_STATE, BLOCK_INDEX, *self._shared_in(callee)]
        hidden: list[tuple[ir.Var, ir.Expr]] = [(var, var) for var in passed]
        shadows = self.shadows[callee.name]
        for p, argument in zip(callee.parameters, call.arguments):
            array = _array_of(argument)
            shadow = self.shadows[caller].get(array.name) if array is not None else None
            if shadow is not None:
                shadows[p.name], more = shadow.as_argument(p.name)
                hidden += more
        self.hidden[callee.name] = tuple(var for var, _ in hidden)
        return tuple(argument for _, argument in hidden)

    def _shared_in(self, function: ir.Function) -> Iterator[ir.Var]:
        """Yield the parameters that a function or its callees need, besides those of arguments."""
        needed = {p.var.name for p in (BARRIERS, ARRIVALS, LANES, BLOCK_CLOCKS)}
        for f in _with_callees(function, self.callees):
            needed |= {s.array.name for s in self.shadows[f.name].values()}
        yield from (p.var for p in self.parameters if p.region is None and p.var.name in needed)


def plan_shadows(
    module: ir.Module,
    own_callees: Collection[str],
    groups: frozenset[CheckGroup],
    regions: Sequence[MemoryRegion],
    proofs: Proofs,
    bounds_waiting: bool,
) -> ShadowPlan:
    """Return the shadows of a kernel, with those of its arguments, shared and local arrays.

    ``bounds_waiting``: whether threads wait for each other in memory first.
    """
    callees = {f.name: f for f in module.device_functions if f.name in own_callees}
    kernel = module.kernel
    reached = tuple(_with_callees(kernel, callees))
    escaping = {f.name: _escaping_arrays(f, callees) for f in module.functions}
    shadows = {f.name: _local_shadows(f, groups, escaping, proofs) for f in module.functions}
    order = (BLOCK_CLOCKS,) if "race" in groups and needs_block_clocks(module) else ()
    words = SYNC_CELL_WORDS if order else CELL_WORDS
    checks_barriers = "sync" in groups and not proofs.are_barriers_convergent
    found = dict.fromkeys((BARRIERS,) if checks_barriers else ())
    if bounds_waiting:
        found[ARRIVALS] = None
    unrecorded = _passed_in_cluster(reached)
    for function, array, p in shared_shadows(reached) if groups & {"race", "init"} else ():
        if not proofs.exempts(groups, (function, array.name)):
            if array.name not in unrecorded[function]:
                found[p] = None
                shadow = Shadow(p.var, start_of(array), p.unit, BLOCK_INDEX, word_count=words)
                is_initialized = array.name in escaping[function]
                shadows[function][array.name] = replace(
                    shadow, is_initialized=is_initialized, cluster=module.cluster
                )
    written, read = written_arguments(module), _read_arrays(kernel, callees)
    for region in regions:
        arrays = _arrays_of(region, kernel)
        names = {array.name for array in arrays.values()}
        has_conflicts = len(arrays) > 1 or proofs.disjoint.isdisjoint(names)
        may_race = "race" in groups and has_conflicts and not written.isdisjoint(arrays)
        is_unwritten = region.is_unwritten and names.isdisjoint(escaping[kernel.name])
        if may_race or ("init" in groups and is_unwritten and not names.isdisjoint(read)):
            p = of_region(region)
            found[p] = None
            for position, offset in region.offsets:
                shadow = _argument_shadow(arrays[position], offset, p, words)
                shadows[kernel.name][arrays[position].name] = replace(
                    shadow, is_initialized=not is_unwritten
                )
    has_shadows = not found.keys() <= {BARRIERS, ARRIVALS}
    compares_lanes = "race" in groups and has_shadows and has_masks(module)
    if compares_lanes or ("sync" in groups and proofs.skips.skipped & proofs.skips.of_warp):
        found[LANES] = None
    unknown = has_unknown_accesses(module, callees)
    parameters = (*found, *order)  # the order is the last one
    has_skips = "sync" in groups and proofs.skips.skipped != 0
    is_small = not has_skips and {BARRIERS, LANES, BLOCK_CLOCKS}.isdisjoint(parameters)
    size = SMALL_STATE_SIZE if is_small else STATE_SIZE
    return ShadowPlan(
        kernel.name,
        callees,
        parameters,
        module.cluster,
        unknown,
        compares_lanes,
        checks_barriers and needs_cooperative_launch(module),
        size,
        shadows,
    )


def _local_shadows(
    function: ir.Function,
    groups: Set[CheckGroup],
    escaping: Mapping[str, Set[str]],
    proofs: Proofs,
) -> dict[str, Shadow]:
    """Return the flags of the local arrays that may be read before they are written."""
    if "init" not in groups:
        return {}
    return {
        array.name: flags_of(array)
        for array in allocated_arrays(function, MemorySpace.LOCAL)
        if array.name not in escaping[function.name]
        and (function.name, array.name) not in proofs.initialized
    }


def _arrays_of(region: MemoryRegion, kernel: ir.Function) -> dict[int, ir.Var]:
    """Return the array parameters that share memory, by the positions of their arguments."""
    by_position = {p.argument: p for p in kernel.parameters if isinstance(p.type, Array)}
    return {position: _variable(by_position[position]) for position, _ in region.offsets}


def _argument_shadow(array: ir.Var, offset: int, p: ShadowParameter, words: int) -> Shadow:
    """Return the shadow of an argument, which starts ``offset`` bytes after its memory."""
    start = binary(SUB, start_of(array), const(offset, array.span, uint64), array.span)
    return Shadow(p.var, start, p.unit, word_count=words)


def _with_callees(
    function: ir.Function, callees: Mapping[str, ir.Function]
) -> Iterator[ir.Function]:
    """Yield a function, and the functions with one caller that it calls."""
    yield function
    for e in all_expressions(function.body):
        if isinstance(e, ir.Call) and e.function in callees:
            yield from _with_callees(callees[e.function], callees)


def _escaping_arrays(function: ir.Function, callees: Mapping[str, ir.Function]) -> set[str]:
    """Return the arrays that a function passes to functions whose accesses are not recorded."""
    found: set[str] = set()
    for call, callee in _calls(function, callees):
        if callee is None or callee.external_code is not None:
            found |= {array.name for array in map(_array_of, call.arguments) if array is not None}
        else:
            found |= _passed(call, callee, _escaping_arrays(callee, callees))
    return found


def _read_arrays(function: ir.Function, callees: Mapping[str, ir.Function]) -> set[str]:
    """Return the arrays of which a function, or what it calls, may read elements."""
    accesses = ir.Load | ir.ElementOf
    found = {e.array.name for e in all_expressions(function.body) if isinstance(e, accesses)}
    for call, callee in _calls(function, callees):
        if callee is not None:
            found |= _passed(call, callee, _read_arrays(callee, callees))
    return found


def _passed_in_cluster(functions: Sequence[ir.Function]) -> dict[str, set[str]]:
    """Return the shared arrays that other blocks of a cluster access, but no shadow tells how.

    These are passed to other functions, or in dynamic shared memory.
    """
    found: dict[str, set[str]] = {f.name: set() for f in functions}
    for f in functions:
        expressions = list(all_expressions(f.body))
        used = {e for e in expressions if isinstance(e, ir.Var) and ir.in_cluster(e)}
        passed = {
            array
            for call in expressions
            if isinstance(call, ir.Call)
            for array in map(_array_of, call.arguments)
            if array in used
        }
        dynamic = {e for e in used if isinstance(e.type, Array) and e.type.shape is None}
        found[f.name] = {e.name for e in passed | dynamic}
    return found


def _calls(
    function: ir.Function, callees: Mapping[str, ir.Function]
) -> Iterator[tuple[ir.Call, ir.Function | None]]:
    """Yield the calls of a function, with the callees that have one caller."""
    for e in all_expressions(function.body):
        if isinstance(e, ir.Call):
            yield e, callees.get(e.function)


def _passed(call: ir.Call, callee: ir.Function, parameters: Set[str]) -> set[str]:
    """Return the arrays that a call passes for some parameters."""
    pairs = zip(callee.parameters, map(_array_of, call.arguments))
    return {array.name for p, array in pairs if array is not None and p.name in parameters}


def _array_of(argument: ir.Expr) -> ir.Var | None:
    """Return the array that an argument of a call is, or is a view of; None for a number."""
    array = argument.array if isinstance(argument, ir.View | ir.ElementOf) else argument
    return array if isinstance(array, ir.Var) and isinstance(array.type, Array) else None


def _variable(p: ir.Parameter) -> ir.Var:
    assert isinstance(p.type, Array)
    return ir.Var(p.name, p.type, THREAD_STATE.span)
