"""A condition on the place of a thread -> the bounds of a loop over threads.

``0 < x and x < width - 1`` says of ``x`` that it starts at 1 and stops at ``width - 1``. Only
what cannot overflow is said so. Knows nothing of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from pycu2c.analysis.launch_assumptions import Facts, is_fixed
from pycu2c.analysis.ranges.intervals import Interval, everything, exact_result, held, is_whole
from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.ir.builders import binary, cast, integer, negation, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Cast,
    Const,
    Expr,
    Junction,
    Logical,
    Parameter,
    Part,
    Unary,
    Var,
)
from pycu2c.ops.intrinsics.builtins import EXTREMES
from pycu2c.ops.operators import ADD, AND, EQ, GE, GT, LE, LT, MUL, NOT, REMAINDER, SUB

Steady: TypeAlias = Callable[[Expr], bool]

_LESSER, _GREATER = EXTREMES[0], EXTREMES[1]
_SWAPPED = {LT: GT, GT: LT, GE: LE, LE: GE, EQ: EQ}
_LONGEST_STEP = 1 << 31  # so that no step leads out of the numbers
_NEGATED = {LT: GE, GE: LT, GT: LE, LE: GT}


def conjuncts(e: Expr) -> Iterator[Expr]:
    """The conditions that all hold where one does."""
    match e:
        case Logical(op=Junction.AND):
            yield from conjuncts(e.left)
            yield from conjuncts(e.right)
        case Unary(op=op, operand=Logical(op=Junction.OR) as either) if op is NOT:
            yield from conjuncts(negation(either.left))
            yield from conjuncts(negation(either.right))
        case Unary(op=op, operand=Binary() as inner) if op is NOT and inner.op in _NEGATED:
            if is_whole(inner.left.type):
                yield binary(_NEGATED[inner.op], inner.left, inner.right, inner.span)
            else:
                yield e
        case _:
            yield e


@dataclass(frozen=True, slots=True)
class Bound:
    """What one condition says of a variable: where it starts, where it stops, what it is a
    multiple of."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the numbers of a kernel. ``values``: of variables that are set once."""

    facts: Facts
    parameters: Mapping[str, Parameter]
    values: Mapping[str, Expr]
    loops: Mapping[str, Interval]

    def of(self, e: Expr) -> Interval:
        """Where a whole number lies."""
        match e:
            case Const(value=value):
                return Interval(int(value), int(value))
            case Var(name=name):
                return self._variable(name, e)
            case Cast(operand=operand) if is_whole(operand.type):
                return held(self.of(operand), e.type)
            case Binary(op=op) if op in (ADD, SUB, MUL) and is_whole(e.type):
                exact = exact_result(op, self.of(e.left), self.of(e.right), e.type.dtype)
                return held(exact, e.type)
            case Apply(intrinsic=row) if is_fixed(row):
                return self.facts.bounds(row) or everything(e.type)
            case _:
                return everything(e.type)

    def _variable(self, name: str, e: Var) -> Interval:
        if name in self.loops:
            return self.loops[name]
        if name in self.values:
            return self.of(self.values[name])
        parameter = self.parameters.get(name)
        if parameter is None or not isinstance(e.type, Scalar):
            return everything(e.type)
        if parameter.part is Part.SHAPE:
            return self.facts.given_lengths
        if parameter.part is Part.VALUE:
            return self.facts.argument(e.type)
        return everything(e.type)

    def least(self, a: Expr, b: Expr) -> Expr:
        """The lesser of two; one of them, if that is known."""
        x, y = self.of(a), self.of(b)
        if x.high <= y.low:
            return a
        return b if y.high <= x.low else Apply(_LESSER, (a, b), WEAK_INT, b.span)

    def greatest(self, a: Expr, b: Expr) -> Expr:
        x, y = self.of(a), self.of(b)
        if x.low >= y.high:
            return a
        return b if y.low >= x.high else Apply(_GREATER, (a, b), WEAK_INT, b.span)

    # ---- conditions ----

    def bound(self, condition: Expr, axis: Var, steady: Steady) -> Bound | None:
        """What a condition says of an axis. ``steady``: whether a number is the same for all
        threads along it."""
        if not (isinstance(condition, Binary) and condition.op in _SWAPPED):
            return None
        kind = scalar_type(condition.left)
        if not (is_whole(kind) and everything(WEAK_INT).holds(everything(kind))):
            return None
        if condition.op is EQ and (step := self._divisor(condition, axis, steady)):
            return Bound(step=step)
        for op, here, there in (
            (condition.op, condition.left, condition.right),
            (_SWAPPED[condition.op], condition.right, condition.left),
        ):
            offset = self._offset(here, axis, steady)
            if offset is not None and steady(there):
                limit = self._less(cast(there, WEAK_INT), offset)
                return None if limit is None else self._said(op, limit)
        return None

    def _divisor(self, condition: Binary, axis: Var, steady: Steady) -> Expr | None:
        """``x % 4 == 0`` -> 4, where that is no number that a step may not be."""
        rest = condition.left
        if isinstance(rest, Var):
            rest = self.values.get(rest.name, rest)
        if not isinstance(rest, Binary) or not _is_zero(condition.right):
            return None
        if self._offset(rest.left, axis, steady) != [] or not steady(rest.right):
            return None
        divisor, sizes = rest.right, self.of(rest.right)
        if rest.op is AND and isinstance(divisor, Const):
            size = int(divisor.value) + 1
            is_divisor = size.bit_count() == 1
            divisor, sizes = integer(size, divisor.span), Interval(size, size)
        else:
            is_divisor = rest.op is REMAINDER
        if not is_divisor or sizes.low < 1 or sizes.high > _LONGEST_STEP:
            return None
        return cast(divisor, WEAK_INT)

    def _offset(self, e: Expr, axis: Var, steady: Steady) -> list[Expr] | None:
        """What is added to the axis; None if an expression is anything else."""
        match e:
            case Var(name=name) if name == axis.name:
                return []
            case Var(name=name) if name in self.values:
                return self._offset(self.values[name], axis, steady)
            case Cast(operand=operand, type=kind) if is_whole(operand.type):
                kept = everything(kind).holds(self.of(operand))
                return self._offset(operand, axis, steady) if kept else None
            case Binary(op=op, left=left, right=right) if op is ADD:
                for inner, added in ((left, right), (right, left)):
                    found = self._offset(inner, axis, steady)
                    if found is not None and steady(added):
                        everywhere = exact_result(ADD, self.of(inner), self.of(added), e.type.dtype)
                        added = cast(added, WEAK_INT)
                        return [*found, added] if everything(e.type).holds(everywhere) else None
                return None
            case _:
                return None

    def _less(self, e: Expr, offset: list[Expr]) -> Expr | None:
        """What is left of a number; None if that might wrap."""
        for part in offset:
            exact = exact_result(SUB, self.of(e), self.of(part), WEAK_INT.dtype)
            if not everything(WEAK_INT).holds(exact):
                return None
            e = binary(SUB, e, part, e.span)
        return e

    def _said(self, op: object, limit: Expr) -> Bound | None:
        after = binary(ADD, limit, integer(1, limit.span), limit.span)
        if op is LT:
            return Bound(stop=limit)
        if op is GE:
            return Bound(start=limit)
        if op is EQ:  # if that wraps, no thread is so far
            return Bound(limit, after)
        if self.of(limit).high == WEAK_INT.dtype.maximum:
            return None
        return Bound(start=after) if op is GT else Bound(stop=after)


def _is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 0
