"""Value range analysis: the interval of each integer expression, refined by conditions.

Sound for every execution of a node, so a proof may replace a run-time check. The input is built IR;
the ``narrow`` and ``legalize`` passes use the result. Device functions are analysed for the joined
arguments of all calls, and each call with a summary of the callee.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain
from types import MappingProxyType

from pycu2c.analysis.launch_ranges import argument_length_range, argument_range, intrinsic_range
from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.analysis.ranges import evaluate, induction_variables
from pycu2c.analysis.ranges.argument_products import SMALL, ArgumentProducts, Factors
from pycu2c.analysis.ranges.domain import AbstractValue, RangeState, Symbol
from pycu2c.analysis.ranges.interval_arithmetic import UNBOUNDED, Interval, all_values, is_integral
from pycu2c.analysis.ranges.last_uses import last_uses
from pycu2c.analysis.ranges.solver import RangeSolver
from pycu2c.analysis.variables import assigned_names
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Array, assumed_magnitude_limit
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, contains, statements
from pycu2c.ops.operators import EQ, MUL

_MAX_SUMMARIES = 12  # per function; above this, one summary for all arguments
# coordinates that are less than others: threadIdx.x < blockDim.x
_STRICTLY_BELOW = (("threadIdx", "blockDim"), ("blockIdx", "gridDim"), ("grid", "gridsize"))


@dataclass(frozen=True, slots=True)
class Ranges:
    """Result of ``analyse``. Holds the function, so that nodes keep their identity."""

    function: ir.Function
    result: AbstractValue  # the return value
    _nodes: Mapping[int, Interval]
    _variables: Mapping[str, Interval]
    _in_bounds: Mapping[tuple[int, int], bool] = field(default_factory=dict)
    _lengths: evaluate.Lengths = field(default_factory=dict)
    _quotients: Mapping[int, Interval] = field(default_factory=dict)
    required_products: Set[Factors] = frozenset()

    def of(self, e: ir.Expr) -> Interval:
        """Return the interval of a node; the full range of its type if it is unreachable."""
        return self._nodes.get(id(e), all_values(e.type))

    def is_reachable(self, e: ir.Expr) -> bool:
        """Return whether an integer node is reachable."""
        return id(e) in self._nodes

    def variable(self, name: str) -> Interval:
        """Return the interval of all values assigned to an integer variable."""
        return self._variables.get(name, UNBOUNDED)

    def is_in_bounds(self, access: ir.Access, axis: int) -> bool:
        """Return whether an index is proved to be in bounds of its axis."""
        return self._in_bounds.get((id(access), axis), False)

    def quotient(self, e: ir.Expr) -> Interval:
        """Return the interval of ``a // b`` for ``a % b``, if it is near 0."""
        return self._quotients.get(id(e), UNBOUNDED)

    def length(self, array: ir.Expr, axis: int) -> Interval:
        """Return the interval of the length of an axis of an array or view."""
        assert isinstance(array.type, Array)
        if isinstance(array, ir.View):
            return self.of(array.lengths[axis])
        if array.type.shape is not None:
            return Interval(array.type.shape[axis], array.type.shape[axis])
        assert isinstance(array, ir.Var)
        return self._lengths.get((array.name, axis), UNBOUNDED)


@dataclass(frozen=True, slots=True)
class ParameterRanges:
    """Intervals of a function's numeric parameters and of its arrays' lengths."""

    numbers: Mapping[str, Interval]
    lengths: evaluate.Lengths
    products: ArgumentProducts = ArgumentProducts()


def analyse(
    function: ir.Function,
    assumptions: LaunchAssumptions,
    parameters: ParameterRanges | None = None,
    results: evaluate.Results = evaluate.unknown_result,
    elements: evaluate.Elements = MappingProxyType({}),
) -> Ranges:
    """Analyse a function: in ``if i > 0: x[i - 1]``, the node ``i - 1`` is 0 or more.

    ``parameters``: ranges of the parameters; by default those of a kernel launch. ``elements``:
    ranges of the module's constant arrays.
    """
    parameters = parameters or _kernel_parameter_ranges(function, assumptions)
    evaluator = evaluate.Evaluator(
        assumptions, parameters.lengths, results, elements, parameters.products
    )
    state = _initial_state(function, assumptions)
    for p in function.parameters:
        if p.name in parameters.numbers:
            var = ir.Var(p.name, p.type, function.span)
            evaluator.assign(var, AbstractValue(parameters.numbers[p.name]), state)
    increments = _loop_increments(function, evaluator)
    kept = parameters.products.arguments
    thresholds = _compared_constants(function.body) if increments else {}
    range_solver = RangeSolver(evaluator, increments, last_uses(function.body), thresholds, kept)
    range_solver.block(function.body, state)
    return Ranges(
        function,
        range_solver.returned or AbstractValue(all_values(function.result)),
        evaluator.of_node,
        evaluator.of_variable,
        evaluator.in_bounds,
        parameters.lengths,
        evaluator.quotients,
        evaluator.required_products,
    )


def _compared_constants(body: ir.Body) -> Mapping[str, Sequence[int]]:
    """Return the constants, and their neighbours, that variables are compared with by ``==``.

    They bound the position in a ring: ``stage += 1; if stage == STAGES: stage = 0``, or ``following
    = stage + 1; if following == STAGES: following = 0; stage = following``.
    """
    constants: dict[str, list[int]] = {}
    for e in all_expressions(body):
        match e:
            case ir.Binary(op=op, left=ir.Var(name=name), right=ir.Const(value=int(k))) if op is EQ:
                constants.setdefault(name, []).extend((k - 1, k, k + 1))
    for s in statements(body) if constants else ():
        if isinstance(s, ir.Assign) and isinstance(s.value, ir.Var) and s.value.name in constants:
            constants.setdefault(s.var.name, []).extend(constants[s.value.name])
    return constants


def _loop_increments(
    function: ir.Function, evaluator: evaluate.Evaluator
) -> induction_variables.LoopIncrements | None:
    """Return the increments of loops; None for a function without loops."""
    if not contains(function.body, ir.For | ir.While):
        return None
    flow_insensitive = replace(evaluator, recording=False)

    def ends_loop(loop: ir.While, var: ir.Var, interval: Interval) -> bool:
        state = RangeState()
        flow_insensitive.assign(var, AbstractValue(interval), state)
        return flow_insensitive.assume(loop.condition, state, True) is None

    return induction_variables.LoopIncrements(
        lambda e: flow_insensitive.value(e, RangeState()).interval,
        lambda var: all_values(var.type),
        ends_loop,
    )


def _initial_state(function: ir.Function, assumptions: LaunchAssumptions) -> RangeState:
    """Return the entry state: unassigned variables are 0, and coordinates are below extents."""
    state = RangeState()
    maybe_unassigned = upward_exposed_reads(function.body)
    for s in statements(function.body):
        if isinstance(s, ir.Assign | ir.For) and s.var.name in maybe_unassigned:
            symbol = evaluate.variable_symbol(s.var)
            if symbol is not None:
                state.intervals[symbol] = Interval(0, 0)
    intrinsics = {
        e.intrinsic.name: e.intrinsic
        for e in all_expressions(function.body)
        if isinstance(e, ir.Apply)
    }
    for inner_name, outer_name in _STRICTLY_BELOW:
        for axis in "xyz":
            inner = intrinsics.get(f"cuda.{inner_name}.{axis}")
            outer = intrinsics.get(f"cuda.{outer_name}.{axis}")
            if inner is None or outer is None:
                continue
            bounds, limit = intrinsic_range(assumptions, inner), intrinsic_range(assumptions, outer)
            assert bounds is not None
            assert limit is not None
            state.add_difference(Symbol(outer.name, limit), Symbol(inner.name, bounds), 1)
    return state


# ---- parameters ------------------------------------------------------------------


def _kernel_parameter_ranges(
    function: ir.Function, assumptions: LaunchAssumptions
) -> ParameterRanges:
    numbers: dict[str, Interval] = {}
    lengths: dict[tuple[str, int], Interval] = {}
    for p in function.parameters:
        if isinstance(p.type, Array):
            lengths |= {
                (p.name, axis): argument_length_range(assumptions) for axis in range(p.type.ndim)
            }
        elif is_integral(p.type):
            numbers[p.name] = argument_range(assumptions, p.type)
    names = {p.argument: p.name for p in function.parameters}
    small = tuple(tuple(names[i] for i in product) for product in assumptions.small_products)
    factors = frozenset(chain.from_iterable(small))
    numbers |= dict.fromkeys(factors, SMALL)
    return ParameterRanges(numbers, lengths, ArgumentProducts(factors - _assigned(function), small))


def required_products(kernel: ir.Function) -> tuple[tuple[int, ...], ...]:
    """Return products of integer arguments, by position: none of the kernel's arithmetic that they
    bound wraps if they are small (``LaunchAssumptions.small_products``)."""
    assumptions = LaunchAssumptions(index32_safe=True)
    positions = {
        p.name: p.argument
        for p in kernel.parameters
        if assumed_magnitude_limit(p.type) == INDEX32_LIMIT - 1
    }
    if not positions or not any(map(_is_product, all_expressions(kernel.body))):
        return ()
    known = _kernel_parameter_ranges(kernel, assumptions)
    numbers = {**known.numbers, **dict.fromkeys(positions, SMALL)}
    products = ArgumentProducts(frozenset(positions) - _assigned(kernel), small=None)
    parameters = ParameterRanges(numbers, known.lengths, products)
    required = analyse(kernel, assumptions, parameters).required_products
    return tuple(sorted(tuple(sorted(map(positions.__getitem__, p))) for p in required))


def _assigned(function: ir.Function) -> set[str]:
    counters = {s.var.name for s in statements(function.body) if isinstance(s, ir.For)}
    return assigned_names(function.body) | counters


def _is_product(e: ir.Expr) -> bool:
    return isinstance(e, ir.Binary) and e.op is MUL and is_integral(e.type)


def unconstrained_parameters(function: ir.Function) -> ParameterRanges:
    """Return the ranges for a function with unknown callers."""
    numbers = {p.name: all_values(p.type) for p in function.parameters if is_integral(p.type)}
    return ParameterRanges(numbers, {})


def _ranges_from_callers(callers: Sequence[Ranges], function: ir.Function) -> ParameterRanges:
    """Join the argument ranges of all calls of a device function."""
    numbers: dict[str, Interval] = {}
    lengths: dict[tuple[str, int], Interval] = {}
    for caller, p, argument in _arguments(callers, function):
        if isinstance(p.type, Array):
            for axis in range(p.type.ndim):
                known_range = caller.length(argument, axis)
                lengths[p.name, axis] = known_range.join_with(
                    lengths.get((p.name, axis), known_range)
                )
        elif is_integral(p.type) and caller.is_reachable(argument):
            known_range = caller.of(argument)
            numbers[p.name] = known_range.join_with(numbers.get(p.name, known_range))
    unconstrained = unconstrained_parameters(function)
    return ParameterRanges({**unconstrained.numbers, **numbers}, lengths)


def _arguments(
    callers: Sequence[Ranges], function: ir.Function
) -> Iterator[tuple[Ranges, ir.Parameter, ir.Expr]]:
    for caller in callers:
        for e in _calls(caller.function, function.name):
            for p, argument in zip(function.parameters, e.arguments):
                yield caller, p, argument


def _calls(caller: ir.Function, name: str) -> Iterator[ir.Call]:
    for e in all_expressions(caller.body):
        if isinstance(e, ir.Call) and e.function == name:
            yield e


# ---- whole modules -----------------------------------------------------------------------------


def analyse_module(
    module: ir.Module, assumptions: LaunchAssumptions, parameters: ParameterRanges | None = None
) -> Mapping[str, Ranges]:
    """Return the ranges of each function of a module by name; callers are analysed first.

    ``parameters``: ranges of the kernel's parameters; by default those of any launch.
    """
    elements = dict(_elements(module))
    summaries = _Summaries({f.name: f for f in module.device_functions}, assumptions, elements)
    analysed = [analyse(module.kernel, assumptions, parameters, summaries.result, elements)]
    remaining = list(module.device_functions)
    while remaining:
        function = remaining[-1]
        recursive = any(True for f in remaining for _ in _calls(f, function.name))
        parameters = (
            unconstrained_parameters(function)
            if recursive
            else _ranges_from_callers(analysed, function)
        )
        analysed.append(analyse(function, assumptions, parameters, summaries.result, elements))
        remaining.pop()
    return {ranges.function.name: ranges for ranges in analysed}


def _elements(module: ir.Module) -> Iterator[tuple[str, Interval]]:
    for constant in module.constants:
        values = [
            int(e.value) for e in constant.values if isinstance(e, ir.Const) and is_integral(e.type)
        ]
        if values:
            yield constant.var.name, Interval(min(values), max(values))


@dataclass(slots=True)
class _Summaries:
    """Intervals of device function results, memoized by the ranges of their arguments."""

    functions: Mapping[str, ir.Function]
    assumptions: LaunchAssumptions
    elements: evaluate.Elements
    _results: dict[tuple[str, tuple[evaluate.ArgumentRange, ...]], AbstractValue] = field(
        default_factory=dict
    )
    _active: list[str] = field(default_factory=list)

    def result(self, call: ir.Call, arguments: Sequence[evaluate.ArgumentRange]) -> AbstractValue:
        if call.function in self._active:  # recursive call
            return evaluate.unknown_result(call, arguments)
        function = self.functions[call.function]
        if sum(name == call.function for name, _ in self._results) >= _MAX_SUMMARIES:
            arguments = [
                () if isinstance(p.type, Array) else all_values(p.type) for p in function.parameters
            ]
        key = (call.function, tuple(arguments))
        if key not in self._results:
            self._active.append(call.function)
            self._results[key] = self._analyse_call(function, arguments)
            self._active.pop()
        return self._results[key]

    def _analyse_call(
        self, function: ir.Function, arguments: Sequence[evaluate.ArgumentRange]
    ) -> AbstractValue:
        numbers: dict[str, Interval] = {}
        lengths: dict[tuple[str, int], Interval] = {}
        for p, known_range in zip(function.parameters, arguments):
            if isinstance(known_range, tuple):
                lengths |= {(p.name, axis): length for axis, length in enumerate(known_range)}
            elif is_integral(p.type):
                numbers[p.name] = known_range
        ranges_of_call = ParameterRanges(numbers, lengths)
        return analyse(
            function, self.assumptions, ranges_of_call, self.result, self.elements
        ).result
