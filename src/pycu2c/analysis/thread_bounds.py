"""Convert conditions on thread coordinates to the bounds of loops over threads.

``0 < x and x < width - 1`` -> ``x`` starts at 1 and stops at ``width - 1``. Only conditions whose
arithmetic cannot overflow are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from pycu2c.analysis.launch_ranges import (
    argument_length_range,
    argument_range,
    intrinsic_range,
    is_thread_coordinate,
)
from pycu2c.analysis.ranges.interval_arithmetic import (
    Interval,
    all_values,
    exact_result,
    fit_to_type,
    is_integral,
)
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, integer, negation, scalar_type
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.builtins import MIN_MAX_INTRINSICS

IsInvariant: TypeAlias = Callable[[ir.Expr], bool]

_MINIMUM, _MAXIMUM = MIN_MAX_INTRINSICS[:2]
_MAX_STEP = 1 << 31  # so that adding a step cannot overflow


def conjuncts(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the conditions of a conjunction."""
    match e:
        case ir.Logical(op=ir.LogicalOp.AND):
            yield from conjuncts(e.left)
            yield from conjuncts(e.right)
        case ir.Unary(op=op, operand=ir.Logical(op=ir.LogicalOp.OR) as either) if op is ops.NOT:
            yield from conjuncts(negation(either.left))
            yield from conjuncts(negation(either.right))
        case ir.Unary(op=op, operand=ir.Binary() as inner) if (
            op is ops.NOT and inner.op in ops.INVERTED_COMPARISONS
        ):
            if is_integral(inner.left.type):
                yield binary(
                    ops.INVERTED_COMPARISONS[inner.op], inner.left, inner.right, inner.span
                )
            else:
                yield e
        case _:
            yield e


@dataclass(frozen=True, slots=True)
class AxisBound:
    """Bounds of a variable from one condition: start, stop, and a divisor."""

    start: ir.Expr | None = None
    stop: ir.Expr | None = None
    step: ir.Expr | None = None


@dataclass(frozen=True, slots=True)
class BoundSolver:
    """Convert conditions to bounds by the ranges of integers in a kernel.

    ``values``: variables with a single definition. ``loops``: the ranges of loop variables.
    """

    assumptions: LaunchAssumptions
    parameters: Mapping[str, ir.Parameter]
    values: Mapping[str, ir.Expr]
    loops: Mapping[str, Interval]

    def of(self, e: ir.Expr) -> Interval:
        """Return the interval of an integer."""
        match e:
            case ir.Const(value=value):
                return Interval(int(value), int(value))
            case ir.Var(name=name):
                return self._variable(name, e)
            case ir.Cast(operand=operand) if is_integral(operand.type):
                return fit_to_type(self.of(operand), e.type)
            case ir.Binary(op=op) if op in (ops.ADD, ops.SUB, ops.MUL) and is_integral(e.type):
                exact = exact_result(op, self.of(e.left), self.of(e.right), e.type.dtype)
                return fit_to_type(exact, e.type)
            case ir.Apply(intrinsic=intrinsic) if is_thread_coordinate(intrinsic):
                return intrinsic_range(self.assumptions, intrinsic) or all_values(e.type)
            case _:
                return all_values(e.type)

    def _variable(self, name: str, e: ir.Var) -> Interval:
        if name in self.loops:
            return self.loops[name]
        if name in self.values:
            return self.of(self.values[name])
        parameter = self.parameters.get(name)
        if parameter is None or not isinstance(e.type, Scalar):
            return all_values(e.type)
        if parameter.part is ir.ArgumentPart.SHAPE:
            return argument_length_range(self.assumptions)
        if parameter.part is ir.ArgumentPart.VALUE:
            return argument_range(self.assumptions, e.type)
        return all_values(e.type)

    def minimum(self, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        """Return ``min(a, b)``, simplified where the ranges decide it."""
        x, y = self.of(a), self.of(b)
        if x.high <= y.low:
            return a
        return b if y.high <= x.low else ir.Apply(_MINIMUM, (a, b), WEAK_INT, b.span)

    def maximum(self, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        x, y = self.of(a), self.of(b)
        if x.low >= y.high:
            return a
        return b if y.low >= x.high else ir.Apply(_MAXIMUM, (a, b), WEAK_INT, b.span)

    # ---- conditions ----

    def bound(
        self, condition: ir.Expr, axis: ir.Var, is_invariant: IsInvariant
    ) -> AxisBound | None:
        """Return the bound that a condition implies for an axis, or None.

        ``is_invariant`` tells whether an expression is the same for all threads along the axis.
        """
        if not (isinstance(condition, ir.Binary) and condition.op in ops.MIRRORED_COMPARISONS):
            return None
        operand_type = scalar_type(condition.left)
        if not is_integral(operand_type):
            return None
        if not all_values(WEAK_INT).contains(all_values(operand_type)):
            return None
        if condition.op is ops.EQ and (step := self._divisor(condition, axis, is_invariant)):
            return AxisBound(step=step)
        for op, side, other in (
            (condition.op, condition.left, condition.right),
            (ops.MIRRORED_COMPARISONS[condition.op], condition.right, condition.left),
        ):
            offset = self._offset(side, axis, is_invariant)
            if offset is not None and is_invariant(other):
                limit = self._subtract(cast(other, WEAK_INT), offset)
                return None if limit is None else self._bound_from(op, limit)
        return None

    def _divisor(
        self, condition: ir.Binary, axis: ir.Var, is_invariant: IsInvariant
    ) -> ir.Expr | None:
        """Return 4 for ``x % 4 == 0``, if the divisor is valid as a step."""
        remainder = condition.left
        if isinstance(remainder, ir.Var):
            remainder = self.values.get(remainder.name, remainder)
        if not isinstance(remainder, ir.Binary) or not _is_zero(condition.right):
            return None
        if self._offset(remainder.left, axis, is_invariant) != [] or not is_invariant(
            remainder.right
        ):
            return None
        divisor, divisor_range = remainder.right, self.of(remainder.right)
        if remainder.op is ops.AND and isinstance(divisor, ir.Const):
            size = int(divisor.value) + 1
            is_divisor = size.bit_count() == 1
            divisor, divisor_range = integer(size, divisor.span), Interval(size, size)
        else:
            is_divisor = remainder.op is ops.C_REM
        if not is_divisor or divisor_range.low < 1 or divisor_range.high > _MAX_STEP:
            return None
        return cast(divisor, WEAK_INT)

    def _offset(self, e: ir.Expr, axis: ir.Var, is_invariant: IsInvariant) -> list[ir.Expr] | None:
        """Return the terms that an expression adds to the axis; None for other expressions."""
        match e:
            case ir.Var(name=name) if name == axis.name:
                return []
            case ir.Var(name=name) if name in self.values:
                return self._offset(self.values[name], axis, is_invariant)
            case ir.Cast(operand=operand, type=target) if is_integral(operand.type):
                exact_cast = all_values(target).contains(self.of(operand))
                return self._offset(operand, axis, is_invariant) if exact_cast else None
            case ir.Binary(op=op, left=left, right=right) if op is ops.ADD:
                for inner, added in ((left, right), (right, left)):
                    found = self._offset(inner, axis, is_invariant)
                    if found is not None and is_invariant(added):
                        sum_range = exact_result(
                            ops.ADD, self.of(inner), self.of(added), e.type.dtype
                        )
                        added = cast(added, WEAK_INT)
                        return [*found, added] if all_values(e.type).contains(sum_range) else None
                return None
            case _:
                return None

    def _subtract(self, e: ir.Expr, offset: list[ir.Expr]) -> ir.Expr | None:
        """Return an expression minus the offset; None if the result may wrap."""
        for term in offset:
            exact = exact_result(ops.SUB, self.of(e), self.of(term), WEAK_INT.dtype)
            if not all_values(WEAK_INT).contains(exact):
                return None
            e = binary(ops.SUB, e, term, e.span)
        return e

    def _bound_from(self, op: object, limit: ir.Expr) -> AxisBound | None:
        next_value = binary(ops.ADD, limit, integer(1, limit.span), limit.span)
        if op is ops.LT:
            return AxisBound(stop=limit)
        if op is ops.NE:
            return None
        if op is ops.GE:
            return AxisBound(start=limit)
        if op is ops.EQ:  # if ``limit + 1`` wraps, no thread has this coordinate
            return AxisBound(limit, next_value)
        if self.of(limit).high == WEAK_INT.dtype.maximum:
            return None
        return AxisBound(start=next_value) if op is ops.GT else AxisBound(stop=next_value)


def _is_zero(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value == 0
