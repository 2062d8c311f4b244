"""Instrument a kernel: guard each access and operation that is not proved to be valid.

``a[i]`` -> ``a[at] if 0 <= at < len(a) or record(findings, 7, at, len(a)) else 0``, where
``record`` returns False, and 7 is the number of the check site. A guarded store is left out. The
input is typed IR, so that all targets share the checks; ranges are those of one launch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from functools import reduce

from pycu2c.analysis.effects import block_level_functions
from pycu2c.analysis.ranges.range_analysis import ParameterRanges, analyse_module
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, Array, MemorySpace, Scalar, Void
from pycu2c.checks import arithmetic, block_order, bounds, lost_values, races
from pycu2c.checks.barrier_skips import BarrierBits
from pycu2c.checks.build_device_functions import called_device_functions
from pycu2c.checks.call_chains import copy_callees
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.context import FINDINGS, OWN_COUNT, CheckContext, Guard, SiteTable, compare
from pycu2c.checks.device_functions import recording
from pycu2c.checks.element_layout import loaded_field, number_at, used_fields
from pycu2c.checks.initialization import InitializationChecks, cleared
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.checks.proofs.kernel_proofs import has_divergent_waits, prove
from pycu2c.checks.shadow_arrays import ShadowParameter
from pycu2c.checks.shadow_plan import ShadowPlan, plan_shadows
from pycu2c.checks.shuffle_uses import shuffle_uses
from pycu2c.checks.synchronization import SynchronizationChecks, lane_call
from pycu2c.checks.waiting import ARRIVALS, WaitLimits, record_exit, with_end
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import const, integer, scalar_type
from pycu2c.ir.call_graph import callees
from pycu2c.ir.expressions import Path
from pycu2c.ir.views import field_at_path
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import GE


@dataclass(frozen=True, slots=True)
class InstrumentedKernel:
    """A kernel with checks.

    Its last parameters are the array of findings, and then ``shadows``.
    """

    module: ir.Module
    sites: tuple[CheckSite, ...]
    shadows: tuple[ShadowParameter, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What is known of the launches that an instrumented kernel is for.

    assumptions: hold for the launch. parameters: the ranges of the kernel's parameters; None if
    the assumptions tell them. regions: the memory of its array arguments. bounds_waiting: whether
    threads that wait for ever do not end by themselves: on a GPU. shared_bytes: of dynamic shared
    memory.
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
    chains = copy_callees(module)
    ranges = analyse_module(chains.module, facts.assumptions, facts.parameters)
    table = SiteTable()
    block = facts.assumptions.block
    partial = block is None or math.prod(block) % 32 != 0
    contexts = {
        f.name: CheckContext(
            f, ranges[f.name], table, groups, chains.calls.get(f.name, ()), wraparound, partial
        )
        for f in chains.module.functions
    }
    proofs = prove(chains, ranges, facts.assumptions, facts.shared_bytes, wraparound)
    bounds_waiting = facts.bounds_waiting and has_divergent_waits(chains.module, proofs)
    plan = plan_shadows(chains.module, chains.calls, groups, facts.regions, proofs, bounds_waiting)
    skips = proofs.skips if "sync" in groups else BarrierBits()
    ends_early = walk.contains(chains.module.kernel.body, ir.Return)
    plan.block_level = block_level_functions(chains.module)
    plan.polled = block_order.polled_by_function(chains.module) if plan.has_block_clocks else {}
    functions = {}
    external = _uninstrumented(chains.module)
    for function in reversed(chains.module.functions):  # callers first
        limits = WaitLimits(
            contexts[function.name],
            proofs.convergent,
            chains.module.cluster,
            ARRIVALS.var if ARRIVALS in plan.parameters and plan.reaches(function.name) else None,
            facts.bounds_waiting,
        )
        instrumenter = _Instrumenter(
            contexts[function.name], plan, external, skips, limits, ends_early
        )
        functions[function.name] = instrumenter.function()
    *devices, kernel = (functions[f.name] for f in chains.module.functions)
    added = tuple(called_device_functions((*devices, kernel)))
    instrumented = replace(chains.module, kernel=kernel, device_functions=(*added, *devices))
    return InstrumentedKernel(instrumented, tuple(table.sites), plan.parameters)


def _uninstrumented(module: ir.Module) -> set[str]:
    """Return the functions in C, and those that their Python bodies call: their calls are fixed."""
    found: set[str] = set()
    for f in reversed(module.functions):  # callers first
        if f.external_code is not None or f.name in found:
            found |= {f.name, *callees(f)}
    return found


class _Instrumenter:
    """Instrument one function.

    external: the functions in C, which are left as they are. skips: where threads may go past
    barriers. ends_early: whether threads may end before others.
    """

    def __init__(
        self,
        context: CheckContext,
        plan: ShadowPlan,
        external: Set[str],
        skips: BarrierBits,
        limits: WaitLimits,
        ends_early: bool,
    ) -> None:
        self._context, self._plan, self._external = context, plan, external
        self._limits = limits
        self._initialization = InitializationChecks(context)
        name = context.function.name
        shadows = plan.shadows[name]
        self._fields = used_fields(context.function.body)
        reaches = plan.reaches(name)
        polled = plan.polled.get(name, frozenset())
        self._races = races.RaceChecks(context, shadows, reaches and plan.has_block_clocks, polled)
        self._synchronization = SynchronizationChecks(
            context,
            self._races,
            plan,
            reaches,
            skips if reaches else BarrierBits(),
            shuffle_uses(context.function.body),
            ends_early,
        )

    def function(self) -> ir.Function:
        function, plan = self._context.function, self._plan
        if function.name in self._external:
            return function
        body = (*self._initialization.at_entry(), *self._body(function.body))
        if function.name == plan.kernel:
            body = _before_jump(body, self._synchronization.check_skips_at_exit(-1, function.span))
        shadows = plan.shadows[function.name].values()
        flags = [s.array for s in shadows if s.is_private and not s.is_passed]
        hidden = plan.hidden.get(function.name, ())
        if function.name == plan.kernel and plan.parameters:
            hidden = tuple(p.var for p in plan.parameters)
            if ARRIVALS in plan.parameters:
                body = with_end(body, record_exit(function.span))
            if plan.counts_grid_barriers:
                body = with_end(
                    body, self._synchronization.check_grid_barriers_at_exit(function.span)
                )
            if plan.compares_lanes:
                start = lane_call("start_lane_clock", function.span)
                body = with_end(body, lane_call("release_at_exit", function.span))
                body = (ir.Evaluate(start, function.span), *body)
            unknown = plan.has_block_clocks and plan.has_unknown_accesses
            body = races.with_thread_state(body, plan.state_size, unknown, function.span)
        body = (*(s for array in flags for s in cleared(array, function.span)), *body)
        if function.name == plan.kernel:
            body = (*cleared(OWN_COUNT, function.span), *body)
        else:
            hidden = (OWN_COUNT, *hidden)
        added = (
            ir.Parameter(var.name, var.type, position)
            for position, var in enumerate((FINDINGS, *hidden), _leaf_count(function))
        )
        return replace(function, parameters=(*function.parameters, *added), body=body)

    # ---- statements ----

    def _body(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self._statement(s))

    def _statement(self, s: ir.Stmt) -> ir.Body:
        site_count = len(self._context.table.sites)
        before, branches, after = self._synchronization.around(s)
        inner = tuple(
            _before_jump(self._body(b), added) for b, added in zip(walk.bodies(s), branches)
        )
        new = self._with_inner(s, inner)
        if isinstance(s, ir.While):
            has_sites = len(self._context.table.sites) > site_count
            new = self._bounded(s, new, has_sites=has_sites)
        return *before, *new, *after

    def _bounded(self, s: ir.While, new: ir.Body, *, has_sites: bool) -> ir.Body:
        """Return an instrumented loop, which a thread with many findings leaves.

        A finding may keep a loop from ending, as what was not read is 0. A loop with a barrier is
        left as it is: others would wait there for the thread.
        """
        expressions = list(walk.all_expressions((s,)))
        called = {e.function for e in expressions if isinstance(e, ir.Call)}
        operations = [e.intrinsic for e in expressions if isinstance(e, ir.Apply)]
        is_block_level = not called.isdisjoint(self._plan.block_level)
        if is_block_level or any(i.synchronizes for i in operations) or not (has_sites or called):
            return new
        count = ir.Load(OWN_COUNT, (integer(0, s.span),), s.span)
        limit = const(recording.MAX_OF_THREAD, s.span, count.type)
        leave = ir.If(compare(GE, count, limit), (ir.Break(s.span),), (), s.span)
        return tuple(
            replace(loop, body=(leave, *loop.body)) if isinstance(loop, ir.While) else loop
            for loop in new
        )

    def _with_inner(self, s: ir.Stmt, inner: tuple[ir.Body, ...]) -> ir.Body:
        match s:
            case ir.Store():
                return self._store(s)
            case ir.Assign():
                return self._assign(s)
            case ir.Evaluate(ir.Apply() as operation):
                return self._effect(operation, s)
            case ir.Evaluate(ir.Call(type=Void()) as call):
                guards, checked_call = self._call(call)
                return _guarded_statements(guards, (replace(s, value=checked_call),), s.span)
            case _:
                rewritten = walk.with_bodies(walk.map_operands(s, self._expression), inner)
                if isinstance(s, ir.While):
                    return self._limits.loop(s, rewritten)
                return self._initialization.after(rewritten)

    def _store(self, s: ir.Store) -> ir.Body:
        value, *indices = map(self._expression, (s.value, *s.indices))
        value, binding = self._context.bind(value, "value")
        guards, checked = self._element(s, tuple(indices), s.path)
        store = replace(s, value=value, indices=checked.indices, path=checked.path)
        is_local = isinstance(s.array.type, Array) and s.array.type.space is MemorySpace.LOCAL
        effect = Guard() if is_local else self._synchronization.confirm_skips(s.span)
        released, written = (
            self._races.guard_polled(checked),
            self._races.guard_store(checked, value),
        )
        guards = [Guard(binding), *guards, effect, released, written]
        return _guarded_statements(guards, (store,), s.span)

    def _assign(self, s: ir.Assign) -> ir.Body:
        loaded = loaded_field(s.value)
        fields = self._fields.get(s.var.name) if loaded else None
        value = self._load(s.value, *loaded, fields) if loaded else self._expression(s.value)
        return self._initialization.after(replace(s, value=value))

    def _effect(self, operation: ir.Apply, s: ir.Evaluate) -> ir.Body:
        """Instrument an operation whose result is not used."""
        guards, checked = self._operands(operation)
        result: ir.Body = (replace(s, value=checked),)
        passed = (ir.Evaluate(e, s.span) for e in self._synchronization.after(checked))
        return _guarded_statements(guards, (*result, *passed), s.span)

    # ---- expressions ----

    def _expression(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Load() | ir.Member() | ir.Item() if loaded := loaded_field(e):
                return self._load(e, *loaded)
            case ir.Var() if not isinstance(e.type, Array):
                return self._initialization.variable(e)
            case ir.Call():
                return _guarded(*self._call(e))
            case ir.Apply(type=Scalar()):
                inner, checked_operation = self._operands(e)
                result: ir.Expr = bounds.guard_subscript(self._context, e, checked_operation)
                passed = self._synchronization.after(checked_operation)
                return _guarded(inner, self._with_calls(result, passed))
            case ir.Logical() | ir.Select():
                checked = walk.map_children(e, self._expression)
                return self._conditional(checked, self._synchronization.skipped_by_operands(e))
            case ir.Binary() | ir.Unary() | ir.Cast():
                checked = walk.map_children(e, self._expression)
                checked = arithmetic.guard_operation(self._context, e, checked)
                return lost_values.guard_result(self._context, e, checked)
            case _:
                return walk.map_children(e, self._expression)

    def _load(
        self, e: ir.Expr, load: ir.Load, path: Path, fields: frozenset[str] | None = None
    ) -> ir.Expr:
        """Instrument a read of an element, of which ``path`` is used, or some ``fields``."""
        kind, recorded = number_at(load.type, path)
        guards, checked = self._element(load, tuple(map(self._expression, load.indices)), path)
        value = field_at_path(replace(load, indices=checked.indices), checked.path, e.span)
        number = replace(checked, path=checked.path[: len(recorded)])
        guards.append(self._races.guard_load(number, None if kind.dtype.is_complex else fields))
        return _guarded(guards, self._with_calls(value, self._races.after_load(checked)))

    def _element(
        self, access: ir.Load | ir.ElementOf | ir.Store, indices: tuple[ir.Expr, ...], path: Path
    ) -> tuple[list[Guard], ir.ElementOf]:
        """Return guards of an access, and the element with indices to use with them.

        access, path: as they were. indices: the instrumented ones.
        """
        context = self._context
        guard, checked = bounds.guard_access(context, access, indices)
        element = ir.ElementOf(access.array, checked, access.span, path)
        path_guard, checked_path = bounds.guard_path(context, element, self._expression)
        bound = Guard()
        if self._races.is_checked(access.array):
            bound, checked = races.bound_indices(context, checked)
        return [guard, path_guard, bound], replace(element, indices=checked, path=checked_path)

    def _operands(self, e: ir.Apply) -> tuple[list[Guard], ir.Apply]:
        """Return guards for the elements that an operation accesses, and the operation."""
        guards: list[Guard] = []
        arguments: list[ir.Expr] = []
        for argument in e.arguments:
            new = self._expression(argument) if not isinstance(argument, ir.ElementOf) else argument
            if isinstance(argument, ir.ElementOf):
                indices = tuple(map(self._expression, argument.indices))
                added, new = self._element(argument, indices, argument.path)
                guards += added
            elif any(isinstance(a, ir.ElementOf) for a in arguments):
                new, binding = self._context.bind(new, "operand")
                guards.append(Guard(binding))
            arguments.append(new)
        operation = replace(e, arguments=tuple(arguments))
        elements = [a for a in arguments if isinstance(a, ir.ElementOf)]
        race_guards = [self._races.guard_operation(operation, element) for element in elements]
        before = self._synchronization.before(operation)
        guard, operation = self._synchronization.guard(e, operation)
        if e.intrinsic.effect in (Effect.MEMORY, Effect.WARP):
            guards.append(self._synchronization.confirm_skips(e.span))
        waiting = self._limits.guard(e, operation)
        of_lanes, operation = self._synchronization.guard_lanes(e, operation)
        operation = self._limits.operation(e, operation)
        return [*guards, before, *race_guards, guard, waiting, of_lanes], operation

    def _conditional(self, e: ir.Expr, skipped: tuple[ir.Expr | None, ir.Expr | None]) -> ir.Expr:
        """Return an ``and``, ``or`` or conditional expression whose operands skip barriers.

        skipped: what records it if the condition holds, and if it does not.
        """
        if skipped == (None, None):
            return e
        if isinstance(e, ir.Logical):
            is_or = e.op is ir.LogicalOp.OR
            decided = ir.Const(is_or, WEAK_BOOL, e.span)
            then, orelse = (decided, e.right) if is_or else (e.right, decided)
            e = ir.Select(e.left, then, orelse, WEAK_BOOL, e.span)
        assert isinstance(e, ir.Select)
        then, orelse = (
            self._with_calls(operand, (call,)) if call else operand
            for operand, call in zip((e.then, e.orelse), skipped)
        )
        return replace(e, then=then, orelse=orelse)

    def _with_calls(self, result: ir.Expr, calls: Iterable[ir.Expr]) -> ir.Expr:
        """Return an expression after which functions of shadow memory are called."""
        guards = [Guard((), call, skips=False) for call in calls]
        if not guards:
            return result
        value = self._context.variable("result", scalar_type(result), result.span)
        return Guard(((value, result),)).expression(_guarded(guards, value))

    def _call(self, e: ir.Call) -> tuple[list[Guard], ir.Call]:
        """Instrument a call, which is left out if an argument is a view out of bounds."""
        guards: list[Guard] = []
        arguments: list[ir.Expr] = []
        for argument in e.arguments:
            checked = walk.map_children(argument, self._expression)
            if not isinstance(argument, ir.View):
                arguments.append(self._expression(argument))
                continue
            assert isinstance(checked, ir.View)
            guard, checked = bounds.guard_view(self._context, argument, checked)
            guards.append(guard)
            arguments.append(checked)
        call = replace(e, arguments=tuple(arguments))
        if e.function in self._external:
            return guards, call
        hidden = self._plan.hidden_arguments(call, self._context.function.name)
        return guards, replace(call, arguments=(*arguments, FINDINGS, OWN_COUNT, *hidden))


def _before_jump(body: ir.Body, added: ir.Body) -> ir.Body:
    """Return a body with statements at its end, unless a jump is there."""
    is_jump = bool(body) and isinstance(body[-1], ir.Break | ir.Continue | ir.Return)
    return body if is_jump else (*body, *added)


def _guarded(guards: Sequence[Guard], e: ir.Expr) -> ir.Expr:
    """Return an expression inside guards, the outermost first."""
    return reduce(lambda inner, guard: guard.expression(inner), reversed(guards), e)


def _guarded_statements(guards: Sequence[Guard], body: ir.Body, span: Span) -> ir.Body:
    return reduce(lambda inner, guard: guard.statements(inner, span), reversed(guards), body)


def _leaf_count(function: ir.Function) -> int:
    return max((p.argument for p in function.parameters), default=-1) + 1
