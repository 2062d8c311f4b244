"""Prove that threads access different elements of an array, so that it needs no shadow.

Indices are affine in the coordinates of the thread and in other variables of known ranges. A
dependence test shows whether equal indices have equal coordinates, and so are of one thread: those
of ``out[y * width + x]`` where ``x < width``, and of ``out[block]`` where ``thread == 0``. Source:
Maslov, "Delinearization" (PLDI 1992).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from pycu2c.analysis.ranges.interval_arithmetic import (
    Interval,
    all_values,
    exact_result,
    is_exact,
    is_integral,
)
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.records import dataclass, field, replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import array_type, scalar_type
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.views import array_of
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands, statements
from pycu2c.ops.intrinsics.memory.subscripts import from_start, index_from_end
from pycu2c.ops.operators import ADD, EQ, FLOORDIV, MOD, MUL, NE, NOT, SUB

Extent: TypeAlias = tuple[int, int, int]
_ElementNode: TypeAlias = "ir.Load | ir.Store | ir.ElementOf"
_Access: TypeAlias = "tuple[_ElementNode, bool, bool]"
_FixedCoordinate: TypeAlias = tuple[str, int]  # its name and value
_MAX_RANGE = 1 << 48
_COORDINATES = {
    f"cuda.{name}.{axis}": tuple(f"{part}.{axis}" for part in parts)
    for name, parts in {
        "threadIdx": ("threadIdx",),
        "blockIdx": ("blockIdx",),
        "grid": ("blockIdx", "threadIdx"),
    }.items()
    for axis in "xyz"
}


@dataclass(frozen=True, slots=True)
class _Affine:
    """``offset + sum(coefficient * variable)``, with the ranges of the variables."""

    offset: int
    coefficients: Mapping[object, int] = field(default_factory=dict)
    ranges: Mapping[object, Interval] = field(default_factory=dict)

    def plus(self, other: _Affine, sign: int) -> _Affine:
        coefficients = Counter(self.coefficients)
        for variable, coefficient in other.coefficients.items():
            coefficients[variable] += sign * coefficient
        ranges = {**other.ranges, **self.ranges}
        return _Affine(self.offset + sign * other.offset, coefficients, ranges)

    def times(self, coefficient: int) -> _Affine:
        coefficients = {variable: coefficient * old for variable, old in self.coefficients.items()}
        return _Affine(coefficient * self.offset, coefficients, self.ranges)


@dataclass(frozen=True, slots=True)
class _IndexedAccess:
    """An access of an element. fixed: the coordinates that conditions around it fix."""

    indices: tuple[_Affine, ...]
    intervals: tuple[Interval, ...]
    is_write: bool
    is_atomic: bool
    fixed: Set[_FixedCoordinate]


def arrays_without_conflicts(
    module: ir.Module, ranges: Ranges, grid: Extent, block: Extent
) -> Iterator[str]:
    """Yield the arrays of a kernel of which no two threads of a launch access one element.

    Elements that threads only read, or access by atomic operations alone, are no conflict.
    """
    accesses = _Accesses(module.kernel, ranges)
    shape = {f"blockIdx.{a}": n for a, n in zip("xyz", grid)}
    shape |= {f"threadIdx.{a}": n for a, n in zip("xyz", block)}
    several = {name for name, count in shape.items() if count > 1}
    for name, found in accesses.by_array().items():
        if _are_disjoint(found, several):
            yield name


def _are_disjoint(accesses: Sequence[_IndexedAccess], coordinates: set[str]) -> bool:
    """Return whether accesses of different threads are of different elements."""
    pairs = ((a, b) for i, a in enumerate(accesses) for b in accesses[i:])
    return all(
        coordinates <= _shared_coordinates(a, b)
        for a, b in pairs
        if (a.is_write or b.is_write)
        and not (a.is_atomic and b.is_atomic)
        and _ranges_overlap(a, b)
    )


def _ranges_overlap(a: _IndexedAccess, b: _IndexedAccess) -> bool:
    return all(x.low <= y.high and y.low <= x.high for x, y in zip(a.intervals, b.intervals))


def _shared_coordinates(a: _IndexedAccess, b: _IndexedAccess) -> set[str]:
    """Return the coordinates that two threads share if they access the same element.

    These are all coordinates if the threads never do.
    """
    equal: set[object] = set()
    for _ in a.indices:  # what is equal on one axis may help on another
        for left, right in zip(a.indices, b.indices):
            found = _equal_variables(left, right, equal)
            if found is None:
                return {part for parts in _COORDINATES.values() for part in parts}
            equal |= found
    equal |= {coordinate for coordinate, _ in a.fixed & b.fixed}
    return {part for variable in equal for part in _COORDINATES.get(str(variable), ())}


def _equal_variables(a: _Affine, b: _Affine, equal: set[object]) -> set[object] | None:
    """Return the variables that are equal if two numbers are; None if the numbers never are.

    equal: variables that are known to be equal. In ``offset + c1 * d1 + c2 * d2 + … == 0``, the
    ``d`` are differences of variables, by ascending coefficients. The sum of the first terms is a
    multiple of the common divisor of the other coefficients. If only 0 is one in its range, both
    parts are 0.
    """
    if a.coefficients != b.coefficients:
        return set()
    terms = sorted((abs(c), str(v), v) for v, c in a.coefficients.items() if c and v not in equal)
    found: set[object] = set()
    part: list[object] = []
    low = high = a.offset - b.offset
    for k, (coefficient, _, variable) in enumerate(terms):
        divisor = math.gcd(*(c for c, _, _ in terms[k:]))
        first, last = -(-low // divisor), high // divisor  # multiples of the divisor in the range
        if first > last:
            return None
        if first == last == 0:
            if len(part) == 1 and low + high == 0:
                found.add(part[0])
            part, low, high = [], 0, 0
        span = coefficient * _largest_difference(a.ranges[variable], b.ranges[variable])
        part.append(variable)
        low, high = low - span, high + span
    if len(part) == 1 and low + high == 0:
        found.add(part[0])
    return _with_dividends(found | equal)


def _largest_difference(a: Interval, b: Interval) -> int:
    return int(max(a.high, b.high) - min(a.low, b.low))


def _with_dividends(variables: set[object]) -> set[object]:
    """Add the variables of which a quotient and the remainder by the same number are equal."""
    found = [v for v in variables if isinstance(v, _Quotient)]
    dividends = {
        q.dividend for q in found if replace(q, is_remainder=not q.is_remainder) in variables
    }
    return variables | dividends


@dataclass(frozen=True, slots=True)
class _Quotient:
    """``dividend // divisor``, or ``dividend % divisor``."""

    dividend: object
    divisor: int
    is_remainder: bool


class _Accesses:
    """The accesses of a kernel to its arrays, with affine indices."""

    def __init__(self, kernel: ir.Function, ranges: Ranges) -> None:
        self._body, self._ranges = kernel.body, ranges
        counts = Counter(p.name for p in kernel.parameters)
        assigned = [s for s in statements(kernel.body) if isinstance(s, ir.Assign | ir.For)]
        counts.update(s.var.name for s in assigned)
        self._definitions = {s.var.name: s for s in assigned if counts[s.var.name] == 1}

    def by_array(self) -> Mapping[str, Sequence[_IndexedAccess]]:
        """Return the accesses by array, without arrays of which some index is unknown."""
        found: defaultdict[str, list[_IndexedAccess]] = defaultdict(list)
        calls = (e for e in all_expressions(self._body) if isinstance(e, ir.Call))
        passed = (array_of(argument) for call in calls for argument in call.arguments)
        unknown = {array.name for array in passed if array}
        for access, fixed in self._accesses(self._body, frozenset()):
            if indexed := self._indexed(*access, fixed):
                found[access[0].array.name].append(indexed)
            else:
                unknown.add(access[0].array.name)
        return {name: accesses for name, accesses in found.items() if name not in unknown}

    def _accesses(
        self, body: ir.Body, fixed: Set[_FixedCoordinate]
    ) -> Iterator[tuple[_Access, Set[_FixedCoordinate]]]:
        """Yield the accesses of statements, with the coordinates that conditions fix."""
        for s in body:
            yield from ((access, fixed) for access in _accesses_of(s))
            if not isinstance(s, ir.If):
                for inner in bodies(s):
                    yield from self._accesses(inner, fixed)
                continue
            then, orelse = (fixed | self._fixed_by(s.condition, holds) for holds in (True, False))
            yield from self._accesses(s.then, then)
            yield from self._accesses(s.orelse, orelse)
            if s.then and isinstance(s.then[-1], ir.Return | ir.Break | ir.Continue):
                fixed = orelse  # for the rest of the statements

    def _fixed_by(self, condition: ir.Expr, holds: bool) -> frozenset[_FixedCoordinate]:
        """Return the coordinates that a condition fixes where it holds, or does not."""
        match condition:
            case ir.Logical(op, left, right) if (op is ir.LogicalOp.AND) is holds:
                return self._fixed_by(left, holds) | self._fixed_by(right, holds)
            case ir.Unary(op, operand) if op is NOT:
                return self._fixed_by(operand, not holds)
            case ir.Binary(op, left, right) if op is (EQ if holds else NE):
                a, b = self._affine(left), self._affine(right)
                difference = a.plus(b, -1) if a and b else _Affine(0)
                match [(d, f) for d, f in difference.coefficients.items() if f]:
                    case [(str(name), 1 | -1 as sign)] if name in _COORDINATES:
                        return frozenset({(name, -sign * difference.offset)})
        return frozenset()

    def _indexed(
        self, node: _ElementNode, is_write: bool, is_atomic: bool, fixed: Set[_FixedCoordinate]
    ) -> _IndexedAccess | None:
        kind = array_type(node.array)
        if is_linear_index(kind, node.indices) and kind.ndim > 1:
            return None
        intervals = tuple(map(self._ranges.of, node.indices))
        affine = (self._affine(e) for e, i in zip(node.indices, intervals) if i.low >= 0)
        indices = tuple(index for index in affine if index)
        is_known = len(indices) == len(intervals)
        return _IndexedAccess(indices, intervals, is_write, is_atomic, fixed) if is_known else None

    def _affine(self, e: ir.Expr) -> _Affine | None:
        """Return an integer as an affine form; None if its range is unknown."""
        interval = self._ranges.of(e)
        if interval.low == interval.high:
            return _Affine(int(interval.low))
        match e:
            case ir.Binary() if e.op in (FLOORDIV, MOD):
                return self._quotient(e, interval)
            case ir.Binary() if is_integral(e.type):
                return self._affine_binary(e) or self._of_variable(id(e), interval)
            case ir.Cast(operand) if is_integral(operand.type) and is_integral(e.type):
                if all_values(e.type).contains(self._ranges.of(operand)):
                    return self._affine(operand)
            case ir.Apply() if e.intrinsic in (from_start, index_from_end):
                if self._ranges.of(e.arguments[0]).low >= 0:
                    return self._affine(e.arguments[0])
            case ir.Apply() if e.intrinsic.name in _COORDINATES:
                return self._of_variable(e.intrinsic.name, interval)
            case ir.Var(name) if name in self._definitions:
                return self._affine_definition(self._definitions[name], interval)
        return self._of_variable(id(e), interval)

    def _of_variable(self, variable: object, interval: Interval) -> _Affine | None:
        if interval.high - interval.low > _MAX_RANGE:
            return None
        return _Affine(0, {variable: 1}, {variable: interval})

    def _affine_definition(
        self, definition: ir.Assign | ir.For, interval: Interval
    ) -> _Affine | None:
        """Return the value of a variable with one definition; ``interval`` is that of its use."""
        if isinstance(definition, ir.Assign):
            value = self._affine(definition.value)
            if value is None or list(value.coefficients.values()) != [1] or value.offset:
                return value
            (variable,) = value.coefficients
            return _Affine(0, {variable: 1}, {variable: interval})
        start, step = self._affine(definition.start), self._ranges.of(definition.step)
        if start is None or step.low != step.high or not step.low:
            return self._of_variable(definition.var.name, interval)
        count = (interval.high - interval.low) // abs(int(step.low))
        trips = self._of_variable(definition.var.name, Interval(0, count))
        return trips and start.plus(trips.times(int(step.low)), 1)

    def _affine_binary(self, e: ir.Binary) -> _Affine | None:
        """Return the result of an operation that does not wrap."""
        left, right, kind = self._affine(e.left), self._affine(e.right), scalar_type(e)
        ranges = self._ranges.of(e.left), self._ranges.of(e.right)
        is_wrapped = not is_exact(exact_result(e.op, *ranges, kind.dtype), kind)
        if left is None or right is None or is_wrapped:
            return None
        if e.op in (ADD, SUB):
            return left.plus(right, 1 if e.op is ADD else -1)
        if e.op is MUL and not right.coefficients:
            return left.times(right.offset)
        if e.op is MUL and not left.coefficients:
            return right.times(left.offset)
        return None

    def _quotient(self, e: ir.Binary, interval: Interval) -> _Affine | None:
        dividend, divisor = self._affine(e.left), self._ranges.of(e.right)
        if dividend and list(dividend.coefficients.values()) == [1] and not dividend.offset:
            if divisor.low == divisor.high:
                (variable,) = dividend.coefficients
                quotient = _Quotient(variable, int(divisor.low), e.op is MOD)
                return self._of_variable(quotient, interval)
        return self._of_variable(id(e), interval)


def _accesses_of(s: ir.Stmt) -> Iterator[_Access]:
    """Yield the accesses of a statement itself: the element, whether it is written, and atomic."""
    if isinstance(s, ir.Store):
        yield s, True, False
    for e in (x for operand in operands(s) for x in expressions(operand)):
        if isinstance(e, ir.Load):
            yield e, False, False
        elements = e.arguments if isinstance(e, ir.Apply) else ()
        for element in elements:
            if isinstance(e, ir.Apply) and isinstance(element, ir.ElementOf):
                yield element, not e.intrinsic.reads, "atomic" in e.intrinsic.name
