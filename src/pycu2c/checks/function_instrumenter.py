"""Instrument one function: guard each access and operation that is not proved to be valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import reduce

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, Array, MemorySpace, Scalar, Void
from pycu2c.checks import arithmetic, bounds, races
from pycu2c.checks.barrier_checks import BarrierChecks
from pycu2c.checks.barrier_skips import BarrierBits
from pycu2c.checks.context import CheckContext, Guard, compare
from pycu2c.checks.device_functions import recording
from pycu2c.checks.element_layout import loaded_field, number_at, used_fields
from pycu2c.checks.hidden_arrays import ARRIVALS, FINDINGS, OWN_COUNT
from pycu2c.checks.initialization import InitializationChecks
from pycu2c.checks.shadow_plan import ShadowPlan
from pycu2c.checks.shuffle_uses import shuffle_uses
from pycu2c.checks.synchronization import SynchronizationEvents
from pycu2c.checks.wait_timeouts import WaitTimeouts
from pycu2c.checks.warp_checks import WarpChecks
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import const, integer, scalar_type
from pycu2c.ir.expressions import Path
from pycu2c.ir.views import field_at_path
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import GE


@dataclass(frozen=True, slots=True)
class KernelChecks:
    """What the instrumenters of all functions of a kernel share.

    convergent: the operations that all threads of their scope reach. skips: where threads may skip
    the others. external: the functions that are left as they are. block_level: the functions that
    all threads of a block call. ends_early: whether threads may end before others. limits_loops:
    whether busy-wait loops have a time limit.
    """

    plan: ShadowPlan
    convergent: Set[ir.Apply]
    skips: BarrierBits
    external: Set[str]
    block_level: Set[str]
    ends_early: bool
    limits_loops: bool


class FunctionInstrumenter:
    """Instruments one function."""

    def __init__(self, context: CheckContext, kernel: KernelChecks) -> None:
        self._context, self._kernel, self._plan = context, kernel, kernel.plan
        plan, function = kernel.plan, context.function
        shadows, polled = plan.shadows[function.name], plan.polled.get(function.name, frozenset())
        reaches = plan.reaches(function.name)
        skips = kernel.skips if reaches else BarrierBits()
        uses, compares_lanes = shuffle_uses(function.body), reaches and plan.compares_lanes
        arrivals = ARRIVALS.var if reaches and ARRIVALS in plan.parameters else None
        self._fields = used_fields(function.body)
        self._initialization = InitializationChecks(context)
        self._races = races.RaceChecks(context, shadows, reaches and plan.has_block_clocks, polled)
        self._barriers = BarrierChecks(context, skips, reaches and plan.has_barriers)
        self._warps = WarpChecks(context, skips, uses, compares_lanes, kernel.ends_early)
        self._events = SynchronizationEvents(context, plan, shadows, reaches, polled)
        self._timeouts = WaitTimeouts(
            context, kernel.convergent, plan.cluster, arrivals, kernel.limits_loops
        )

    def body(self) -> ir.Body:
        """Return the instrumented body of the function."""
        function = self._context.function
        body = (*self._initialization.at_entry(), *self._body(function.body))
        if function.name != self._plan.kernel:
            return body
        return _before_jump(body, self._barriers.at_exit(-1, function.span))

    # ---- statements ----

    def _body(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self._statement(s))

    def _statement(self, s: ir.Stmt) -> ir.Body:
        site_count = len(self._context.sites)
        before, branches, after = self._barriers.around(s)
        inner = tuple(
            _before_jump(self._body(b), added) for b, added in zip(walk.bodies(s), branches)
        )
        new = self._with_inner(s, inner)
        if isinstance(s, ir.While):
            has_sites = len(self._context.sites) > site_count
            new = self._limit_findings(s, new, has_sites=has_sites)
        return *before, *new, *after

    def _limit_findings(self, s: ir.While, new: ir.Body, *, has_sites: bool) -> ir.Body:
        """Return an instrumented loop that a thread leaves after many findings.

        A finding may keep a loop from ending, as the value that is not read is 0. Loops with
        barriers do not change: other threads would wait there.
        """
        expressions = list(walk.all_expressions((s,)))
        called = {e.function for e in expressions if isinstance(e, ir.Call)}
        operations = [e.intrinsic for e in expressions if isinstance(e, ir.Apply)]
        is_block_level = not called.isdisjoint(self._kernel.block_level)
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
                    return self._timeouts.loop(s, rewritten)
                return self._initialization.after(rewritten)

    def _store(self, s: ir.Store) -> ir.Body:
        value, *indices = map(self._expression, (s.value, *s.indices))
        value, binding = self._context.bind(value, "value")
        guards, checked = self._element(s, tuple(indices), s.path)
        store = replace(s, value=value, indices=checked.indices, path=checked.path)
        is_local = isinstance(s.array.type, Array) and s.array.type.space is MemorySpace.LOCAL
        effect = Guard() if is_local else self._barriers.confirm_skips(s.span)
        release, write = self._events.before_store(checked), self._races.guard_store(checked, value)
        guards = [Guard(binding), *guards, effect, release, write]
        return _guarded_statements(guards, (store,), s.span)

    def _assign(self, s: ir.Assign) -> ir.Body:
        loaded = loaded_field(s.value)
        fields = self._fields.get(s.var.name) if loaded else None
        value = self._load(s.value, *loaded, fields) if loaded else self._expression(s.value)
        return self._initialization.after(replace(s, value=value))

    def _effect(self, operation: ir.Apply, s: ir.Evaluate) -> ir.Body:
        """Instrument an operation whose result is not used."""
        guards, checked = self._operands(operation)
        calls = (ir.Evaluate(e, s.span) for e in self._after(checked))
        return _guarded_statements(guards, (replace(s, value=checked), *calls), s.span)

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
                guards, operation = self._operands(e)
                result = bounds.guard_subscript(self._context, e, operation)
                return _guarded(guards, self._with_calls(result, self._after(operation)))
            case ir.Logical() | ir.Select():
                return self._conditional(e)
            case ir.Binary() | ir.Unary() | ir.Cast():
                checked = walk.map_children(e, self._expression)
                return arithmetic.guard_operation(self._context, e, checked)
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
        return _guarded(guards, self._with_calls(value, self._events.after_load(checked)))

    def _element(
        self, access: ir.Load | ir.ElementOf | ir.Store, indices: tuple[ir.Expr, ...], path: Path
    ) -> tuple[list[Guard], ir.ElementOf]:
        """Return guards of an access, and the element with indices to use with them.

        access, path: before they were instrumented. indices: the instrumented ones.
        """
        context = self._context
        guard, checked = bounds.guard_access(context, access, indices)
        element = ir.ElementOf(access.array, checked, access.span, path)
        path_guard, checked_path = bounds.guard_path(context, element, self._expression)
        bound = Guard()
        if self._races.has_shadow(access.array):
            bound, checked = races.bind_indices(context, checked)
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
        before, of_barrier = self._events.before(operation), self._barriers.guard(e)
        of_mask, operation = self._warps.guard_mask(e, operation)
        if e.intrinsic.effect in (Effect.MEMORY, Effect.WARP):
            guards.append(self._barriers.confirm_skips(e.span))
        waiting = self._timeouts.guard(e, operation)
        of_lanes, operation = self._warps.guard_lanes(e, operation)
        operation = self._timeouts.operation(e, operation)
        return [*guards, before, *race_guards, of_barrier, of_mask, waiting, of_lanes], operation

    def _conditional(self, e: ir.Logical | ir.Select) -> ir.Expr:
        """Instrument an expression whose operands may have barriers, which it skips."""
        checked = walk.map_children(e, self._expression)
        assert isinstance(checked, ir.Logical | ir.Select)
        original, select = _as_select(e), _as_select(checked)
        skipped = [self._barriers.skip_operand(x) for x in (original.orelse, original.then)]
        if not any(skipped):
            return checked
        then, orelse = map(self._with_calls, (select.then, select.orelse), skipped)
        return replace(select, then=then, orelse=orelse)

    def _after(self, e: ir.Apply) -> Iterator[ir.Expr]:
        yield from self._events.after(e)
        yield from self._barriers.after(e)

    def _with_calls(self, result: ir.Expr, calls: Iterable[ir.Expr]) -> ir.Expr:
        """Return an expression after which functions of shadow memory are called."""
        guards = [Guard((), call, predicated=False) for call in calls]
        if not guards:
            return result
        value = self._context.variable("result", scalar_type(result), result.span)
        return Guard(((value, result),)).expression(_guarded(guards, value))

    def _call(self, e: ir.Call) -> tuple[list[Guard], ir.Call]:
        """Instrument a call, which is left out if an argument is a view out of bounds."""
        guards: list[Guard] = []
        arguments: list[ir.Expr] = []
        for argument in e.arguments:
            if isinstance(argument, ir.View):
                view = walk.map_children(argument, self._expression)
                assert isinstance(view, ir.View)
                guard, view = bounds.guard_view(self._context, argument, view)
                guards.append(guard)
                arguments.append(view)
            else:
                arguments.append(self._expression(argument))
        call = replace(e, arguments=tuple(arguments))
        if e.function in self._kernel.external:
            return guards, call
        hidden = self._plan.hidden_arguments(call, self._context.function.name)
        return guards, replace(call, arguments=(*arguments, FINDINGS, OWN_COUNT, *hidden))


def _before_jump(body: ir.Body, added: ir.Body) -> ir.Body:
    """Return a body with statements at its end, unless a jump is there."""
    is_jump = bool(body) and isinstance(body[-1], ir.Break | ir.Continue | ir.Return)
    return body if is_jump else (*body, *added)


def _as_select(e: ir.Logical | ir.Select) -> ir.Select:
    if isinstance(e, ir.Select):
        return e
    is_or = e.op is ir.LogicalOp.OR
    decided = ir.Const(is_or, WEAK_BOOL, e.span)
    then, orelse = (decided, e.right) if is_or else (e.right, decided)
    return ir.Select(e.left, then, orelse, WEAK_BOOL, e.span)


def _guarded(guards: Sequence[Guard], e: ir.Expr) -> ir.Expr:
    """Return an expression inside guards, the outermost first."""
    return reduce(lambda inner, guard: guard.expression(inner), reversed(guards), e)


def _guarded_statements(guards: Sequence[Guard], body: ir.Body, span: Span) -> ir.Body:
    return reduce(lambda inner, guard: guard.statements(inner, span), reversed(guards), body)
