"""Instrument a kernel: guard each access and operation that is not proved to be valid.

``a[i]`` -> ``a[at] if 0 <= at < len(a) or record(findings, 7, at, len(a)) else 0``, where
``record`` returns False, and 7 is the number of the check site. A guarded store is left out. The
input is typed IR, so that all targets share the checks; ranges are those of one launch.
"""

from __future__ import annotations

import math

from pycu2c.analysis.effects import block_level_functions
from pycu2c.analysis.ranges.range_analysis import ParameterRanges, analyse_module
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, MemorySpace
from pycu2c.checks.barrier_checks import check_grid_barriers
from pycu2c.checks.barrier_skips import BarrierBits
from pycu2c.checks.build_device_functions import called_device_functions
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.context import CheckContext
from pycu2c.checks.function_cloning import clone_callees
from pycu2c.checks.function_instrumenter import FunctionInstrumenter, KernelChecks
from pycu2c.checks.hidden_arrays import (
    ARRIVALS,
    BLOCK_INDEX,
    FINDINGS,
    OWN_COUNT,
    THREAD_STATE,
    WORDS,
    HiddenArray,
    block_clocks,
    device_call,
    lane_call,
)
from pycu2c.checks.initialization import cleared
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.checks.proofs.kernel_proofs import has_divergent_waits, prove
from pycu2c.checks.shadow_plan import ShadowPlan, plan_shadows
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import integer
from pycu2c.ir.call_graph import callees
from pycu2c.ir.views import add_scaled
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.transforms.common.hoist_shared_arrays import hoist_shared_arrays


@dataclass(frozen=True, slots=True)
class InstrumentedKernel:
    """A kernel with checks.

    Its last parameters are the array of findings, and then ``shadows``.
    """

    module: ir.Module
    sites: tuple[CheckSite, ...]
    shadows: tuple[HiddenArray, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """The facts of the launches for which a kernel is instrumented.

    parameters: the ranges of the kernel's parameters; None for those of the assumptions. regions:
    the memory of its array arguments. bounds_waiting: whether a deadlock would never end: on a GPU.
    shared_bytes: of dynamic shared memory.
    """

    assumptions: LaunchAssumptions
    parameters: ParameterRanges | None = None
    regions: tuple[MemoryRegion, ...] = ()
    bounds_waiting: bool = False
    shared_bytes: int = 0


def instrument(
    module: ir.Module,
    groups: frozenset[CheckGroup],
    facts: LaunchFacts,
    wraparound: bool = True,
) -> InstrumentedKernel:
    """Instrument a kernel and the device functions that it calls."""
    if not groups:
        return InstrumentedKernel(module, ())
    cloned = clone_callees(hoist_shared_arrays(module))
    module = cloned.module
    ranges = analyse_module(module, facts.assumptions, facts.parameters)
    proofs = prove(cloned, ranges, facts.assumptions, facts.shared_bytes, wraparound)
    bounds_waiting = facts.bounds_waiting and has_divergent_waits(module, proofs)
    plan = plan_shadows(cloned, groups, facts.regions, proofs, bounds_waiting)
    checks = KernelChecks(
        plan,
        proofs.convergent,
        proofs.skips if "sync" in groups else BarrierBits(),
        _uninstrumented(module),
        block_level_functions(module),
        walk.contains(module.kernel.body, ir.Return),
        facts.bounds_waiting,
    )
    sites: list[CheckSite] = []
    block = facts.assumptions.block
    partial = block is None or math.prod(block) % 32 != 0
    functions = {}
    for f in reversed(module.functions):  # callers first
        calls = cloned.calls.get(f.name, ())
        context = CheckContext(f, ranges[f.name], sites, groups, calls, wraparound, partial)
        instrumenter = FunctionInstrumenter(context, checks)
        is_external = f.name in checks.external
        functions[f.name] = f if is_external else _with_body(f, instrumenter.body(), plan)
    *devices, kernel = (functions[f.name] for f in module.functions)
    added = tuple(called_device_functions((*devices, kernel)))
    module = replace(module, kernel=kernel, device_functions=(*added, *devices))
    return InstrumentedKernel(module, tuple(sites), plan.parameters)


def _uninstrumented(module: ir.Module) -> set[str]:
    """Return the functions in C, and those that they call, whose parameters are fixed."""
    found: set[str] = set()
    for f in reversed(module.functions):  # callers first
        if f.external_code is not None or f.name in found:
            found |= {f.name, *callees(f)}
    return found


def _with_body(function: ir.Function, body: ir.Body, plan: ShadowPlan) -> ir.Function:
    """Return a function with its instrumented body, and hidden parameters and arrays."""
    is_kernel, span = function.name == plan.kernel, function.span
    shadows = plan.shadows[function.name].values()
    local = [s.array for s in shadows if s.is_private and not s.is_passed]
    hidden = [FINDINGS, OWN_COUNT, *plan.hidden.get(function.name, ())]
    if is_kernel:
        local = [OWN_COUNT, *local]
        hidden = [FINDINGS, *(p.var for p in plan.parameters)]
        body = _with_thread_state(body, plan, span) if plan.parameters else body
    body = (*(s for array in local for s in cleared(array, span)), *body)
    first = max((p.argument for p in function.parameters), default=-1) + 1
    added = (ir.Parameter(var.name, var.type, n) for n, var in enumerate(hidden, first))
    return replace(function, parameters=(*function.parameters, *added), body=body)


def _with_thread_state(body: ir.Body, plan: ShadowPlan, span: Span) -> ir.Body:
    """Return the body of a kernel, with the state of the thread from its start to its end."""
    if ARRIVALS in plan.parameters:
        body = _with_exit(body, device_call("record_exit", span, ARRIVALS.var))
    if plan.counts_grid_barriers:
        body = _with_exit(body, check_grid_barriers(span))
    if plan.compares_lanes:
        body = _with_exit(body, lane_call("release_at_exit", span))
        body = (ir.Evaluate(lane_call("start_lane_clock", span), span), *body)
    zero, one, size = (integer(n, span) for n in (0, 1, plan.state_size))
    kind = replace(WORDS, space=MemorySpace.LOCAL, shape=(plan.state_size,))
    memory = ir.Var("state.words", kind, span)
    state = ir.View(memory, (zero,), (0,), (one,), (size,), WORDS, span)
    start = device_call("start_thread", span, state)
    if plan.has_block_clocks and plan.has_untracked_accesses:  # no race is found
        start = device_call("start_thread.ordered", span, state, *block_clocks(span))
    block = ir.Assign(BLOCK_INDEX, _block_index(span), span)
    body = walk.map_expr(body, lambda e: state if e is THREAD_STATE else e)
    return ir.Allocate(memory, span), block, ir.Evaluate(start, span), *body


def _with_exit(body: ir.Body, call: ir.Call) -> ir.Body:
    """Return the body of a kernel with a call at the end of each thread."""
    end = ir.Evaluate(call, call.span)

    def before_return(s: ir.Stmt) -> ir.Body:
        return (end, s) if isinstance(s, ir.Return) else (s,)

    return (*walk.map_stmt(body, before_return), end)


def _block_index(span: Span) -> ir.Expr:
    """Return the linear index of the block."""
    x, y, z, width, height = (
        ir.Apply(REGISTRY[f"cuda.{name}"], (), WEAK_INT, span)
        for name in ("blockIdx.x", "blockIdx.y", "blockIdx.z", "gridDim.x", "gridDim.y")
    )
    return add_scaled(x, add_scaled(y, z, height), width)
