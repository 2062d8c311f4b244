"""Transfer functions of expressions and conditions for the range analysis.

``Evaluator.value`` maps an expression and a state to an abstract value. ``Evaluator.assume``
refines a state by a condition. Statements are handled by ``solver``, and ``domain`` defines states,
symbols and abstract values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

from pycu2c.analysis.launch_ranges import intrinsic_range, is_thread_coordinate, length_range
from pycu2c.analysis.ranges import induction_variables
from pycu2c.analysis.ranges.argument_products import ArgumentProducts, Factors
from pycu2c.analysis.ranges.domain import AbstractValue, RangeState, Symbol, SymbolOffset, join
from pycu2c.analysis.ranges.interval_arithmetic import (
    BOOL_RANGE,
    UNBOUNDED,
    Interval,
    absolute,
    all_values,
    bitwise_inverted,
    exact_result,
    fit_to_type,
    float_to_int_range,
    is_exact,
    is_integral,
    negated,
)
from pycu2c.analysis.ranges.transfer_functions import (
    assume_comparison,
    bound_quotient,
    constant,
    convert,
    evaluate_operator,
    maximum,
    merge_offsets,
    midpoint_offsets,
    minimum,
    symbol_value,
)
from pycu2c.base.dtypes import FLOAT64, INT32, DTypeKind
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, Array, Scalar, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir.verify_expressions import is_bool
from pycu2c.ir.walk import children, expressions, path_indices
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.builtins import OPERATOR_INTRINSICS, range_trip_count
from pycu2c.ops.intrinsics.memory.subscripts import SUBSCRIPTS, from_start, slice_back
from pycu2c.ops.intrinsics.threads import warp

_UNBOUNDED_VALUE = AbstractValue(UNBOUNDED)
_ZERO = constant(0)
_MAX_REPETITIONS = 2  # of nested expressions
_OPERATOR_BY_INTRINSIC = {intrinsic: op for op, intrinsic in OPERATOR_INTRINSICS.items()}
_ROUNDING_NAMES = ("round", "math.ceil", "math.floor", "math.trunc")
_EXACT_FLOATS = Interval(-(2**53), 2**53)
_MINIMUM_NAMES, _MAXIMUM_NAMES = ("min", "numpy.minimum"), ("max", "numpy.maximum")


def variable_symbol(var: ir.Var) -> Symbol | None:
    """Return the symbol of an integer variable; None for other types."""
    return Symbol(var.name, all_values(var.type)) if is_integral(var.type) else None


def _member_symbols(var: ir.Var) -> list[Symbol]:
    """Return the symbols of the fields of a record variable; none for other types."""
    if not isinstance(var.type, Scalar) or var.type.dtype.kind is not DTypeKind.RECORD:
        return []
    return [Symbol(var.name, all_values(Scalar(f.dtype)), f.name) for f in var.type.dtype.fields]


def _has_range(value_type: Type) -> bool:
    """Return whether a value is an integer, or a record with one that may be negative."""
    if not isinstance(value_type, Scalar) or value_type.dtype.kind is not DTypeKind.RECORD:
        return is_integral(value_type)
    return any(field.dtype.is_signed for field in value_type.dtype.fields)


# the interval of a number, or of the lengths of an array's axes
ArgumentRange: TypeAlias = Interval | tuple[Interval, ...]
Results: TypeAlias = Callable[[ir.Call, Sequence[ArgumentRange]], AbstractValue]
Lengths: TypeAlias = Mapping[tuple[str, int], Interval]  # by array name and axis
Elements: TypeAlias = Mapping[str, Interval]  # of all elements, by array name


def unknown_result(call: ir.Call, _: Sequence[ArgumentRange]) -> AbstractValue:
    """Return the full range of a device function's result type."""
    return AbstractValue(all_values(call.type))


@dataclass(slots=True)
class Evaluator:
    """Evaluate expressions in a state.

    ``of_node`` and ``in_bounds`` are filled only while ``recording``, after loops have converged.
    ``lengths`` are those of the function's array parameters. ``results`` bounds the result of a
    call from the ranges of its arguments. ``elements`` bounds the elements of the module's constant
    arrays.

    Some rules evaluate an operand a second time: a condition as true and as false, for example.
    The second evaluation only adds precision. It is omitted inside ``_MAX_REPETITIONS`` others, so
    the work is polynomial in the nesting depth of an expression.
    """

    assumptions: LaunchAssumptions
    lengths: Lengths
    results: Results = unknown_result
    elements: Elements = field(default_factory=dict)
    products: ArgumentProducts = field(default_factory=ArgumentProducts)
    recording: bool = True
    repetitions: int = 0  # second evaluations of enclosing expressions
    of_node: dict[int, Interval] = field(default_factory=dict)
    in_bounds: dict[tuple[int, int], bool] = field(default_factory=dict)
    of_variable: dict[str, Interval] = field(default_factory=dict)
    quotients: dict[int, Interval] = field(default_factory=dict)  # a // b of each ``a % b``
    required_products: set[Factors] = field(default_factory=set)

    def assign(self, var: ir.Var, value: AbstractValue, state: RangeState) -> None:
        """Assign a value to an integer variable, or to a record variable."""
        for k, member in enumerate(_member_symbols(var)):
            state.assign(
                member, AbstractValue(value.members[k] if value.members else member.bounds)
            )
        symbol = variable_symbol(var)
        if symbol is None:
            return
        state.assign(symbol, value)
        if self.recording:
            old = self.of_variable.get(var.name, value.interval)
            self.of_variable[var.name] = old.join_with(value.interval)

    def _bind(self, let: ir.Let, state: RangeState) -> None:
        value = self.value(let.value, state)
        if isinstance(let.value.type, Scalar):
            self.assign(ir.Var(let.name, let.value.type, let.span), value, state)

    def value(self, e: ir.Expr, state: RangeState) -> AbstractValue:
        """Return the abstract value of an expression; ``state`` records variables bound by Lets."""
        value = self._value(e, state)
        if self.recording and is_integral(e.type):
            old = self.of_node.get(id(e), value.interval)
            self.of_node[id(e)] = old.join_with(value.interval)
        return value

    def _value(self, e: ir.Expr, state: RangeState) -> AbstractValue:
        match e:
            case ir.Const():
                return _literal(e)
            case ir.Var():
                if symbol := variable_symbol(e):
                    return symbol_value(symbol, state)
                members = tuple(map(state.of, _member_symbols(e)))
                return AbstractValue(UNBOUNDED, (), members) if members else _UNBOUNDED_VALUE
            case ir.Unary():
                return self._unary(e, state)
            case ir.Binary():
                return self._binary(e, state)
            case ir.Logical():
                return self._truth(e, state)
            case ir.Select():
                return self._select(e, state)
            case ir.Cast():
                return self._cast(e, state)
            case ir.Load() | ir.ElementOf():
                self.access(e, state)
                found = self.elements.get(e.array.name) if isinstance(e, ir.Load) else None
                return AbstractValue(found or all_values(e.type))
            case ir.Member():
                return self._member(e, state)
            case ir.Pack() if e.type.dtype.kind is DTypeKind.RECORD:
                pairs = [
                    (self.value(p, state), f.dtype) for p, f in zip(e.parts, e.type.dtype.fields)
                ]
                members = tuple(fit_to_type(v.interval, Scalar(dtype)) for v, dtype in pairs)
                return AbstractValue(UNBOUNDED, (), members)
            case ir.Item() | ir.Pack() | ir.View():
                for child in children(e):
                    self.value(child, state)
                return AbstractValue(all_values(e.type))
            case ir.Dim():
                return self.length(e.array, e.axis, state)
            case ir.Stride():
                return AbstractValue(all_values(e.type))
            case ir.Let():
                self._bind(e, state)
                return self.value(e.body, state)
            case ir.Apply():
                return self._apply(e, state)
            case ir.Call():
                argument_ranges = [self._argument(argument, state) for argument in e.arguments]
                return self.results(e, argument_ranges) if _has_range(e.type) else _UNBOUNDED_VALUE
            case _:
                assert_never(e)

    def _member(self, e: ir.Member, state: RangeState) -> AbstractValue:
        members, found = self.value(e.operand, state).members, all_values(e.type)
        if members:
            assert isinstance(e.operand.type, Scalar)
            names = [f.name for f in e.operand.type.dtype.fields]
            found = fit_to_type(members[names.index(e.field)], e.type)
        return AbstractValue(found)

    def _argument(self, e: ir.Expr, state: RangeState) -> ArgumentRange:
        value = self.value(e, state).interval
        match e:
            case ir.View():
                return tuple(self.value(length, state).interval for length in e.lengths)
            case ir.Var(type=Array(ndim=ndim)):
                return tuple(self.length(e, axis, state).interval for axis in range(ndim))
            case _:
                return value

    def access(self, e: ir.Access, state: RangeState) -> None:
        """Evaluate the indices of an access and record whether each is proved to be in bounds."""
        for axis, index in enumerate(e.indices):
            self._refine_from_definitions(index, state)
            value = self.value(index, state)
            assert isinstance(e.array.type, Array)
            if self.recording and len(e.indices) == e.array.type.ndim:
                remaining = state.difference(self.length(e.array, axis, state), value)
                proved = value.interval.low >= 0 and remaining.low >= 1
                self.in_bounds[id(e), axis] = proved and self.in_bounds.get((id(e), axis), True)
        for index in () if isinstance(e, ir.Load) else path_indices(e.path):
            self.value(index, state)

    def _refine_from_definitions(self, index: ir.Expr, state: RangeState) -> None:
        """Refine a possibly negative index from the definitions of its variables.

        After ``here = y * width + x``, a later condition on x or y also bounds ``here``.
        """
        names = state.definitions.keys() - state.refined
        found = {x.name: x for x in expressions(index) if isinstance(x, ir.Var)} if names else {}
        found = {name: x for name, x in found.items() if name in names}
        if not found or self.repetitions == _MAX_REPETITIONS:
            return
        recording, self.recording = self.recording, False
        self.repetitions += 1
        if self.value(index, state).interval.low < 0:
            state.refined = state.refined.union(found)
            for name, var in found.items():
                defined = self.value(state.definitions[name], state.copy())
                assume_comparison(ops.EQ, self.value(var, state), defined, state)
        self.repetitions -= 1
        self.recording = recording

    # ---- values, node by node ----

    def length(self, array: ir.Var, axis: int, state: RangeState) -> AbstractValue:
        """Return the abstract value of ``array.shape[axis]``."""
        assert isinstance(array.type, Array)
        if array.type.shape is not None:
            return constant(array.type.shape[axis])
        length = self.lengths.get((array.name, axis), UNBOUNDED)
        any_length = length_range(self.assumptions)
        bounds = Interval(max(length.low, any_length.low), min(length.high, any_length.high))
        return symbol_value(Symbol(f"{array.name}.shape[{axis}]", bounds), state)

    def _truth(self, e: ir.Expr, state: RangeState) -> AbstractValue:
        if self.assume(e, state.copy(), True) is None:
            return _ZERO
        if self._assume_again(e, state.copy(), False) is None:
            return constant(1)
        return AbstractValue(BOOL_RANGE)

    def _cast(self, e: ir.Cast, state: RangeState) -> AbstractValue:
        operand = self.value(e.operand, state)
        if not (is_integral(e.type) and is_integral(e.operand.type)):
            return AbstractValue(self._rounded(e.operand, e.type, state))
        return _truth_of(operand) if is_bool(e.type) else convert(operand, e.type)

    def _rounded(self, e: ir.Expr, target: Scalar, state: RangeState) -> Interval:
        """Return the interval of a float rounded to an integer: ``math.ceil(n / 16)``."""
        match e:
            case ir.Binary(op=ops.DIV, left=ir.Cast(operand=n), right=ir.Const(value=divisor)) if (
                is_integral(n.type) and e.type.dtype is FLOAT64 and float(divisor) >= 1
            ):
                values = self.value(n, state).interval
                if _EXACT_FLOATS.contains(values):
                    low, high = values.low / float(divisor), values.high / float(divisor)
                    return Interval(math.floor(low), math.ceil(high))
        return float_to_int_range(target)

    def _unary(self, e: ir.Unary, state: RangeState) -> AbstractValue:
        if e.op is ops.NOT:
            return self._truth(e, state)
        operand = self.value(e.operand, state)
        if not is_integral(e.type) or e.type.dtype.kind is DTypeKind.BOOL:
            return AbstractValue(all_values(e.type))
        if e.op is ops.POS:
            return operand
        if e.op is ops.NEG:
            return AbstractValue(fit_to_type(negated(operand.interval), e.type))
        assert e.op is ops.INVERT
        return AbstractValue(fit_to_type(bitwise_inverted(operand.interval, e.type.dtype), e.type))

    def _binary(self, e: ir.Binary, state: RangeState) -> AbstractValue:
        if e.op.result is ops.bool_result:
            return self._truth(e, state)
        left, right = self.value(e.left, state), self.value(e.right, state)
        value = evaluate_operator(e.op, left, right, e.type, state)
        if self.products.arguments and is_integral(e.type):
            value = self._bounded_by_products(e, left, right, value, state)
        if e.op is ops.MOD and self.recording and is_integral(e.type):
            found = bound_quotient(left, right, state)
            self.quotients[id(e)] = found.join_with(self.quotients.get(id(e), found))
        if _is_element_count(e):  # the number of elements is limited
            return AbstractValue(
                Interval(0, min(value.interval.high, self.assumptions.max_elements))
            )
        if self.assumptions.index32_safe and _is_block_start_or_grid_size(e):
            return AbstractValue(Interval(0, min(value.interval.high, INDEX32_LIMIT - 1)))
        if (
            e.op is ops.FLOORDIV
            and _is_half_of_sum(e, left)
            and self.repetitions < _MAX_REPETITIONS
        ):
            assert isinstance(e.left, ir.Binary)
            self.repetitions += 1
            ends = self.value(e.left.left, state), self.value(e.left.right, state)
            self.repetitions -= 1
            return AbstractValue(
                value.interval, merge_offsets([*value.offsets, *midpoint_offsets(*ends, state)])
            )
        return value

    def _bounded_by_products(
        self,
        e: ir.Binary,
        a: AbstractValue,
        b: AbstractValue,
        value: AbstractValue,
        state: RangeState,
    ) -> AbstractValue:
        """Return the value of an operation refined by products of arguments that are small."""
        interval, exact = value.interval, exact_result(e.op, a.interval, b.interval, e.type.dtype)
        bound = self.products.bound(a, b, state) if e.op is ops.MUL else None
        if bound and bound.high < exact.high and exact.high > INT32.maximum:
            interval = exact = Interval(exact.low, bound.high)
            if self.recording:
                self.required_products.add(bound.factors)
        if not is_exact(exact, e.type):
            return value
        found = bound.offsets if bound else self.products.offsets(e.op, a, b, state)
        return AbstractValue(interval, merge_offsets([*found, *value.offsets]))

    def _select(self, e: ir.Select, state: RangeState) -> AbstractValue:
        if_true = self.assume(e.condition, state.copy(), True)
        if_false = self._assume_again(e.condition, state.copy(), False)
        then = self.value(e.then, if_true) if if_true else None
        orelse = self.value(e.orelse, if_false) if if_false else None
        if then is None or orelse is None or if_true is None or if_false is None:
            return then or orelse or AbstractValue(all_values(e.type))
        symbols = {f.symbol for f in (*then.offsets, *orelse.offsets)}
        offsets = []
        for symbol in sorted(symbols, key=lambda t: t.name):
            offset = if_true.difference(then, symbol_value(symbol, if_true))
            hull = offset.join_with(if_false.difference(orelse, symbol_value(symbol, if_false)))
            offsets.append(SymbolOffset(symbol, hull.low, hull.high))
        return replace(then.join_with(orelse), offsets=merge_offsets(offsets))

    def _apply(self, e: ir.Apply, state: RangeState) -> AbstractValue:
        values = [self.value(a, state) for a in e.arguments]
        intrinsic = e.intrinsic
        if not is_integral(e.type):
            return _UNBOUNDED_VALUE
        assert isinstance(e.type, Scalar)
        if intrinsic in _OPERATOR_BY_INTRINSIC:
            return evaluate_operator(
                _OPERATOR_BY_INTRINSIC[intrinsic], values[0], values[1], e.type, state
            )
        if intrinsic.name in _MINIMUM_NAMES:
            return minimum(values[0], values[1])
        if intrinsic.name in _MAXIMUM_NAMES:
            return maximum(values[0], values[1])
        if intrinsic is from_start:
            operand_range = values[0].interval
            return replace(
                values[0], interval=Interval(max(operand_range.low, 0), max(operand_range.high, 0))
            )
        if intrinsic in SUBSCRIPTS:
            # 0 … length: other values of an index are out of bounds, which is undefined; the stop
            # of a slice with a negative step (slice_back) may be -1
            return AbstractValue(
                Interval(-1 if intrinsic is slice_back else 0, values[1].interval.high)
            )
        if intrinsic is range_trip_count:
            return AbstractValue(induction_variables.length_of_range(*(v.interval for v in values)))
        # the value of some active lane
        if intrinsic.synchronizes and intrinsic in warp.LANE_SELECTING:
            return AbstractValue(values[1].interval)
        if intrinsic.name in _ROUNDING_NAMES:
            return AbstractValue(self._rounded(e.arguments[0], e.type, state))
        if intrinsic.name == "abs":
            return AbstractValue(fit_to_type(absolute(values[0].interval), e.type))
        bounds = intrinsic_range(self.assumptions, intrinsic)
        if bounds is None:
            return AbstractValue(all_values(e.type))
        if is_thread_coordinate(intrinsic):
            return symbol_value(Symbol(intrinsic.name, bounds), state)
        return AbstractValue(bounds)

    # ---- conditions ----

    def assume(self, e: ir.Expr, state: RangeState, expected: bool) -> RangeState | None:
        """Refine ``state``, which is consumed, by a condition being ``expected``.

        Returns None if the condition never has this value.
        """
        match e:
            case ir.Unary() if e.op is ops.NOT:
                return self.assume(e.operand, state, not expected)
            case ir.Logical():
                return self._logical(e.left, e.right, e.op is ir.LogicalOp.AND, state, expected)
            case ir.Binary() if e.op.result is ops.bool_result and is_integral(e.left.type):
                left, right = self.value(e.left, state), self.value(e.right, state)
                op = e.op if expected else ops.INVERTED_COMPARISONS[e.op]
                if not assume_comparison(op, left, right, state):
                    return None
                mirrored = ops.MIRRORED_COMPARISONS[op]
                feasible = self._refine_square(op, e.left, right, state) and self._refine_square(
                    mirrored, e.right, left, state
                )
                return state if feasible else None
            case ir.Binary() if e.op in (ops.AND, ops.OR) and e.type.dtype.kind is DTypeKind.BOOL:
                self.value(e.right, state)  # evaluated unconditionally
                return self._logical(e.left, e.right, e.op is ops.AND, state, expected)
            case ir.Cast() if e.type.dtype.kind is DTypeKind.BOOL and is_integral(e.operand.type):
                return self.assume(e.operand, state, expected)
            case ir.Let():
                self._bind(e, state)
                return self.assume(e.body, state, expected)
            case ir.Select():
                then = self.assume(e.condition, state.copy(), True)
                orelse = self._assume_again(e.condition, state, False)
                return join(
                    then and self.assume(e.then, then, expected),
                    orelse and self.assume(e.orelse, orelse, expected),
                )
            case ir.Var() if e.name in state.definitions:
                return self._assume_definition(e, state, expected)
            case _:
                return self._nonzero(e, state, expected)

    def _assume_again(self, e: ir.Expr, state: RangeState, expected: bool) -> RangeState | None:
        """Refine ``state`` by a condition that has been assumed to be the opposite."""
        if self.repetitions == _MAX_REPETITIONS:
            return state
        self.repetitions += 1
        result = self.assume(e, state, expected)
        self.repetitions -= 1
        return result

    def _refine_square(
        self, op: ops.Operator, e: ir.Expr, bound: AbstractValue, state: RangeState
    ) -> bool:
        """Refine d by ``d * d <= n``; return False if the condition is infeasible."""
        match e:
            case ir.Binary(inner_op, ir.Var() as x, ir.Var(name=same)) if (
                inner_op is ops.MUL and x.name == same
            ):
                d = self.value(x, state)
                exact = exact_result(ops.MUL, d.interval, d.interval, e.type.dtype)
                if op not in (ops.LT, ops.LE, ops.EQ) or not is_exact(exact, e.type):
                    return True
                root = math.isqrt(max(bound.interval.high, 0))
                return state.assume_difference(constant(root), d, 0) and state.assume_difference(
                    d, constant(-root), 0
                )
            case _:
                return True

    def _assume_definition(self, e: ir.Var, state: RangeState, expected: bool) -> RangeState | None:
        """Refine by the definition of a bool variable, as in ``inside = i < n``."""
        recording, self.recording = self.recording, False
        defined = self.assume(state.definitions[e.name], state, expected)
        self.recording = recording
        return defined and self._nonzero(e, defined, expected)

    def _nonzero(self, e: ir.Expr, state: RangeState, expected: bool) -> RangeState | None:
        if isinstance(e, ir.Binary) and e.op.result is ops.bool_result:  # float comparison
            self.value(e.left, state)
            self.value(e.right, state)
            return state
        value = self.value(e, state)
        if assume_comparison(ops.NE if expected else ops.EQ, value, _ZERO, state):
            return state
        return None

    def _logical(
        self, left: ir.Expr, right: ir.Expr, both: bool, state: RangeState, expected: bool
    ) -> RangeState | None:
        """Refine by ``and`` / ``or`` with short-circuit evaluation."""
        if both == expected:
            first = self.assume(left, state, expected)
            return first and self.assume(right, first, expected)
        short_circuited = self.assume(left, state.copy(), expected)
        first = self._assume_again(left, state, not expected)
        return join(short_circuited, first and self.assume(right, first, expected))


def _truth_of(value: AbstractValue) -> AbstractValue:
    """Return the value of ``bool(x)``."""
    if value.interval == _ZERO.interval:
        return _ZERO
    return AbstractValue(BOOL_RANGE) if value.interval.contains(_ZERO.interval) else constant(1)


def _literal(e: ir.Const) -> AbstractValue:
    """Return the value of a literal, which may exceed its type until it is converted."""
    if isinstance(e.value, float):
        return _UNBOUNDED_VALUE
    return convert(constant(int(e.value)), e.type)


def _is_half_of_sum(e: ir.Binary, sum_value: AbstractValue) -> bool:
    is_halved = isinstance(e.right, ir.Const) and e.right.value == 2
    return (
        is_halved
        and isinstance(e.left, ir.Binary)
        and e.left.op is ops.ADD
        and bool(sum_value.offsets)
    )


def _is_element_count(e: ir.Binary) -> bool:
    """Return whether e is a product of different axes of one array, as weak ints."""
    if e.op is not ops.MUL or not e.type.weak:
        return False
    factors = _factors(e)
    axes = {(f.array.name, f.axis) for f in factors if isinstance(f, ir.Dim)}
    return len({name for name, _ in axes}) == 1 and len(axes) == len(factors)


def _is_block_start_or_grid_size(e: ir.Binary) -> bool:
    """Return whether e is ``blockIdx.x * blockDim.x`` or ``gridDim.x * blockDim.x``."""
    if e.op is not ops.MUL:
        return False
    return {
        f.intrinsic.name for f in (e.left, e.right) if isinstance(f, ir.Apply) and not f.arguments
    } in _BLOCK_STARTS_AND_GRID_SIZES


_BLOCK_STARTS_AND_GRID_SIZES = [
    {f"cuda.{block}.{x}", f"cuda.blockDim.{x}"} for x in "xyz" for block in ("blockIdx", "gridDim")
]


def _factors(e: ir.Expr) -> list[ir.Expr]:
    if isinstance(e, ir.Binary) and e.op is ops.MUL:
        return _factors(e.left) + _factors(e.right)
    if isinstance(e, ir.Cast) and e.type == WEAK_INT and isinstance(e.operand, ir.Dim):
        return [e.operand]
    return [e]
