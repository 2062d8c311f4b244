"""Instrument a kernel: guard each access and operation that is not proved to be valid.

``a[i]`` -> ``a[at] if 0 <= at < len(a) or record(findings, 7, at, len(a)) else 0``, where
``record`` returns False, and 7 is the number of the check site. A guarded store is left out. The
input is typed IR, so that all targets share the checks; ranges are those of one launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import cast

from pycu2c.analysis.ranges.range_analysis import ParameterRanges, analyse_module
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import source_of
from pycu2c.base.types import WEAK_INT, Array, Scalar, Tuple
from pycu2c.checks import arithmetic, bounds, recording
from pycu2c.checks.call_chains import copy_callees
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.context import FINDINGS, FINDINGS_TYPE, CheckContext, Guard, SiteTable
from pycu2c.checks.initialization import InitializationChecks
from pycu2c.declarations.options import CheckGroup
from pycu2c.frontend.function_builder import build_device
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk


@dataclass(frozen=True, slots=True)
class InstrumentedKernel:
    """A kernel with checks. Its last parameter is the array of findings."""

    module: ir.Module
    sites: tuple[CheckSite, ...]


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What is known of the launches that an instrumented kernel is for.

    assumptions: hold for the launch. parameters: the ranges of the kernel's parameters; None if
    the assumptions tell them.
    """

    assumptions: LaunchAssumptions
    parameters: ParameterRanges | None = None


def instrument(
    module: ir.Module,
    groups: frozenset[CheckGroup],
    facts: LaunchFacts,
    wraparound: bool = True,
) -> InstrumentedKernel:
    """Instrument a kernel and the device functions that it calls."""
    chains = copy_callees(module)
    ranges = analyse_module(chains.module, facts.assumptions, facts.parameters)
    table = SiteTable()

    def instrumented(function: ir.Function) -> ir.Function:
        chain = chains.calls.get(function.name, ())
        context = CheckContext(function, ranges[function.name], table, groups, chain, wraparound)
        return _Instrumenter(context).function()

    functions = walk.map_functions(chains.module, instrumented)
    recorders = tuple(_recorders(functions))
    devices = (*recorders, *functions.device_functions)
    return InstrumentedKernel(replace(functions, device_functions=devices), tuple(table.sites))


def _recorders(module: ir.Module) -> Iterator[ir.Function]:
    """Yield the functions that the instrumented functions call to record findings."""
    calls = {
        e.function: e
        for f in module.functions
        for e in walk.all_expressions(f.body)
        if isinstance(e, ir.Call) and e.function.startswith("record.")
    }
    for name, call in sorted(calls.items()):
        values = Tuple((WEAK_INT,) * (len(call.arguments) - 2))
        source = source_of(cast(FunctionType, recording.record))
        built, _ = build_device(source, (FINDINGS_TYPE, WEAK_INT, values))
        yield replace(built.kernel, name=name)


class _Instrumenter:
    """Instrument one function."""

    def __init__(self, context: CheckContext) -> None:
        self._context = context
        self._initialization = InitializationChecks(context)

    def function(self) -> ir.Function:
        function = self._context.function
        body = (*self._initialization.at_entry(), *self._body(function.body))
        findings = ir.Parameter(FINDINGS.name, FINDINGS.type, _leaf_count(function))
        return replace(function, parameters=(*function.parameters, findings), body=body)

    # ---- statements ----

    def _body(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self._statement(s))

    def _statement(self, s: ir.Stmt) -> ir.Body:
        inner = tuple(self._body(b) for b in walk.bodies(s))
        match s:
            case ir.Store():
                return self._store(s)
            case ir.Evaluate(ir.Apply() as operation):
                return self._effect(operation, s)
            case _:
                rewritten = walk.with_bodies(walk.map_operands(s, self._expression), inner)
                return self._initialization.after(rewritten)

    def _store(self, s: ir.Store) -> ir.Body:
        value, *others = map(self._expression, walk.operands(s))
        indices, path = others[: len(s.indices)], others[len(s.indices) :]
        value, binding = self._context.bind(value, "value")
        guard, checked = bounds.guard_access(self._context, s, tuple(indices))
        path_indices = walk.with_path_indices(s.path, path)
        store = replace(s, value=value, indices=checked, path=path_indices)
        stored = self._initialization.after(store)
        assignments = tuple(ir.Assign(var, e, e.span) for var, e in binding)
        return (*assignments, *guard.statements(stored, s.span))

    def _effect(self, operation: ir.Apply, s: ir.Evaluate) -> ir.Body:
        """Instrument an operation whose result is not used."""
        guards, checked = self._operands(operation)
        result: ir.Body = (replace(s, value=checked),)
        for guard in reversed(guards):
            result = guard.statements(result, s.span)
        return result

    # ---- expressions ----

    def _expression(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Load():
                indices = tuple(map(self._expression, e.indices))
                guard, checked = bounds.guard_access(self._context, e, indices)
                load = self._initialization.load(replace(e, indices=checked))
                return guard.expression(load)
            case ir.Var() if not isinstance(e.type, Array):
                return self._initialization.variable(e)
            case ir.Call():
                return self._call(e)
            case ir.Apply(type=Scalar()):
                guards, checked_operation = self._operands(e)
                result: ir.Expr = bounds.guard_subscript(self._context, e, checked_operation)
                for guard in reversed(guards):
                    result = guard.expression(result)
                return result
            case ir.Binary() | ir.Cast():
                return arithmetic.guard_operation(
                    self._context, e, walk.map_children(e, self._expression)
                )
            case _:
                return walk.map_children(e, self._expression)

    def _operands(self, e: ir.Apply) -> tuple[list[Guard], ir.Apply]:
        """Return guards for the elements that an operation accesses, and the operation."""
        guards: list[Guard] = []
        arguments: list[ir.Expr] = []
        for argument in e.arguments:
            if not isinstance(argument, ir.ElementOf):
                arguments.append(self._expression(argument))
                continue
            others = [self._expression(x) for x in walk.children(argument)[1:]]
            indices, path = others[: len(argument.indices)], others[len(argument.indices) :]
            guard, checked = bounds.guard_access(self._context, argument, tuple(indices))
            guards.append(guard)
            path_indices = walk.with_path_indices(argument.path, path)
            arguments.append(replace(argument, indices=checked, path=path_indices))
        return guards, replace(e, arguments=tuple(arguments))

    def _call(self, e: ir.Call) -> ir.Expr:
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
        result: ir.Expr = replace(e, arguments=(*arguments, FINDINGS))
        for guard in reversed(guards):
            result = guard.expression(result)
        return result


def _leaf_count(function: ir.Function) -> int:
    return max((p.argument for p in function.parameters), default=-1) + 1
