"""Derive ranges from array indices: an out-of-bounds access is undefined behaviour.

If an array has at most 2**30 elements, its index is from -(2**30) to 2**30 - 1 in every defined
execution. Two facts follow:

- Constraints: from the range of a sum and of one operand follows the range of the other. So ``row *
  width`` in ``a[row * width + column]`` is below 2**30 if neither is negative, and can be computed
  in 32 bits. A variable is constrained as well if an access with it always follows its assignment.
- Modular arithmetic: sums and products modulo 2**32 need their operands modulo 2**32 only. As a
  signed 32-bit number, an index known modulo 2**32 is the one value in that range, so
  the test for a negative index may use it. Other uses may not: a variable is computed modulo 2**32
  only if it is read in indices alone. An index proved nonnegative in 64 bits stays nonnegative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.ranges.interval_arithmetic import (
    UNBOUNDED,
    Interval,
    all_values,
    exact_result,
    negated,
)
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.walk import (
    accesses,
    all_expressions,
    bodies,
    children,
    expressions,
    operands,
    statements,
)
from pycu2c.ops.operators import ADD, MUL, SUB


@dataclass(slots=True)
class IndexConstraints:
    """Constraints of one function.

    ``variables``: intervals of variables whose every assignment is constrained. ``modular``: the
    variables that are read in indices only.
    """

    function: ir.Function
    ranges: Ranges
    rules: IndexRules
    variables: dict[str, Interval] = field(default_factory=dict)
    modular: frozenset[str] = frozenset()
    _constraints: dict[int, Interval] = field(default_factory=dict)
    _constrained_uses: Counter[int] = field(default_factory=Counter)  # by id of the node
    _uses: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not self.rules.index32:
            return
        self._uses.update(id(e) for e in all_expressions(self.function.body))
        for access in accesses(self.function.body):
            for axis, index in enumerate(access.indices):
                self._constrain(index, self._index_range(access.array, access.indices, axis))
        self._constrain_block(self.function.body)
        by_assignment = self._defined_by_assignment()
        self.variables = {n: i for n, i in self.variables.items() if n in by_assignment}
        self.modular = self._index_only_variables()

    def of(self, e: ir.Expr) -> Interval:
        """Return the interval of an expression in all defined executions.

        A node that also occurs in an unconstrained position is not narrowed.
        """
        interval = self.ranges.of(e)
        if self._constrained_uses[id(e)] >= self._uses[id(e)]:
            interval = self._constraints.get(id(e), interval)
        if isinstance(e, ir.Var) and e.name in self.variables:
            interval = _intersection(interval, self.variables[e.name])
        return interval

    def variable(self, name: str) -> Interval:
        """Return the interval of all values assigned to a variable in defined executions."""
        return self.variables.get(name, self.ranges.variable(name))

    def _index_range(self, array: ir.Var, indices: tuple[ir.Expr, ...], axis: int) -> Interval:
        assert isinstance(array.type, Array)
        max_length = self.rules.max_elements
        if array.type.shape is not None:
            flat = is_linear_index(array.type, indices)
            max_length = math.prod(array.type.shape) if flat else array.type.shape[axis]
        return Interval(-max_length if self.rules.wraparound else 0, max_length - 1)

    # ---- constraints ----

    def _constrain(self, e: ir.Expr, constraint: Interval) -> None:
        """Require the value of ``e`` to be in ``constraint``; otherwise behaviour is undefined."""
        if isinstance(e, ir.Const):
            return
        interval = self.ranges.of(e)
        intersection = _intersection(interval, constraint)
        self._constraints[id(e)] = intersection.join_with(
            self._constraints.get(id(e), intersection)
        )
        self._constrained_uses[id(e)] += 1
        if isinstance(e, ir.Binary) and is_linear(e):
            left, right = self.ranges.of(e.left), self.ranges.of(e.right)
            exact = exact_result(e.op, left, right, e.type.dtype)
            if not all_values(e.type).contains(exact):
                intersection = UNBOUNDED  # it may wrap at 64 bits
            self._constrain(e.left, _left_constraint(e, intersection, right))
            self._constrain(e.right, _right_constraint(e, intersection, left))

    def _constrain_block(self, body: ir.Body) -> None:
        """Process statements backwards: constraints on a variable apply to its value."""
        for position in reversed(range(len(body))):
            s = body[position]
            for inner in bodies(s):
                self._constrain_block(inner)
            if isinstance(s, ir.Assign) and s.var.type == WEAK_INT:
                self._constrain(s.value, self._later_constraints(s.var.name, body[position + 1 :]))
                value = self.of(s.value)
                self.variables[s.var.name] = value.join_with(
                    self.variables.get(s.var.name, Interval(0, 0))
                )

    def _later_constraints(self, name: str, following: ir.Body) -> Interval:
        """Intersect the constraints of the accesses that always follow."""
        constraint = UNBOUNDED
        for s in following:
            for e in operands(s):
                if any(isinstance(x, ir.Call) for x in expressions(e)):  # the call may not return
                    return constraint
                for x in _always_evaluated(e):
                    if isinstance(x, ir.Var) and x.name == name and id(x) in self._constraints:
                        constraint = _intersection(self.of(x), constraint)
            if (
                bodies(s)
                or not isinstance(s, (ir.Assign, ir.Store, ir.Evaluate))
                or _assigns(s, name)
            ):
                return constraint
        return constraint

    # ---- modular arithmetic ----

    def _index_only_variables(self) -> frozenset[str]:
        """Return the weak int variables whose every read is part of an index.

        Reads in the values of such variables count as well.
        """
        access_reads = Counter(
            operand.name
            for access in accesses(self.function.body)
            for index in access.indices
            for operand in linear_operands(index)
        )
        values = [s for s in statements(self.function.body) if isinstance(s, ir.Assign)]
        all_reads = Counter(
            e.name for e in all_expressions(self.function.body) if isinstance(e, ir.Var)
        )
        candidates = set(self.variables)
        while True:
            index_reads = access_reads + Counter(
                operand.name
                for s in values
                if s.var.name in candidates
                for operand in linear_operands(s.value)
            )
            remaining = {name for name in candidates if all_reads[name] <= index_reads[name]}
            if remaining == candidates:
                return frozenset(candidates)
            candidates = remaining

    def _defined_by_assignment(self) -> set[str]:
        """Return the constrained variables that nothing but assignments defines."""
        excluded = {p.name for p in self.function.parameters}
        for s in statements(self.function.body):
            if isinstance(s, (ir.For, ir.Declare)):
                excluded.add(s.var.name)
        excluded |= {e.name for e in all_expressions(self.function.body) if isinstance(e, ir.Let)}
        return set(self.variables) - excluded


def _intersection(interval: Interval, constraint: Interval) -> Interval:
    """Return the intersection; if it is empty, execution is undefined and any result is valid."""
    low, high = max(interval.low, constraint.low), min(interval.high, constraint.high)
    return Interval(low, high) if low <= high else interval


def _left_constraint(e: ir.Binary, intersection: Interval, right: Interval) -> Interval:
    if e.op is ADD:
        return Interval(intersection.low - right.high, intersection.high - right.low)
    if e.op is SUB:
        return Interval(intersection.low + right.low, intersection.high + right.high)
    return _factor(intersection, right)


def _right_constraint(e: ir.Binary, intersection: Interval, left: Interval) -> Interval:
    if e.op is ADD:
        return Interval(intersection.low - left.high, intersection.high - left.low)
    if e.op is SUB:
        return Interval(left.low - intersection.high, left.high - intersection.low)
    return _factor(intersection, left)


def _factor(product: Interval, other: Interval) -> Interval:
    """Bound a factor: its magnitude is at most that of the product, if the other one is not 0."""
    hull = product.join_with(Interval(0, 0))
    if other.low > 0:
        return hull
    return negated(hull) if other.high < 0 else UNBOUNDED


def is_linear(e: ir.Expr) -> bool:
    """Return whether e is a sum or product of weak ints, which may be computed modulo 2**32."""
    return isinstance(e, ir.Binary) and e.op in (ADD, SUB, MUL) and e.type == WEAK_INT


def linear_operands(e: ir.Expr) -> Iterator[ir.Var]:
    """Yield the variables of a sum of products of weak ints."""
    if isinstance(e, ir.Binary) and is_linear(e):
        yield from linear_operands(e.left)
        yield from linear_operands(e.right)
    elif isinstance(e, ir.Var) and scalar_type(e) == WEAK_INT:
        yield e


def _always_evaluated(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield an expression and its operands that are evaluated unconditionally."""
    yield e
    evaluated = children(e)
    if isinstance(e, (ir.Select, ir.Logical)):
        evaluated = evaluated[:1]
    for child in evaluated:
        yield from _always_evaluated(child)


def _assigns(s: ir.Stmt, name: str) -> bool:
    return isinstance(s, ir.Assign) and s.var.name == name
