"""Legalize indices: Python's negative indices count from the end, and slices are clamped.

Where the range analysis proves that an index is nonnegative, it is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.variables import single_assignments
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, integer, let, scalar_type
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.walk import expressions
from pycu2c.ops.intrinsics.memory.subscripts import (
    index_from_end,
    slice_back,
    slice_start,
    slice_stop,
)
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, LT, MUL, SUB

_COPYABLE = ir.Var | ir.Const | ir.Cast | ir.Binary

# lowest result, whether smaller results are clamped to it, whether larger ones to the length
_SUBSCRIPT_RULES = {
    index_from_end: (0, False, False),
    slice_start: (0, True, False),
    slice_stop: (0, True, True),
    slice_back: (-1, True, True),
}


@dataclass(slots=True)
class IndexLegalizer:
    """Legalize the indices of one function."""

    function: ir.Function
    ranges: Ranges
    rules: IndexRules
    fresh: Callable[[str], str]
    _cache: dict[tuple[str, int, int], ir.Expr] = field(default_factory=dict)
    exact_casts: set[int] = field(default_factory=set)  # from int64 to int32, by identity
    _wide_variables: dict[str, ir.Var] = field(default_factory=dict)
    _assigned_once: Set[str] = field(init=False)

    def __post_init__(self) -> None:
        # reads before the assignment give 0, and so do reads of the index in 64 bits
        self._assigned_once = single_assignments(self.function).keys()

    def after_assignment(self, s: ir.Assign) -> ir.Body:
        """Return the statements to insert after an assignment."""
        wide = self._widened(s.value) if s.var.name in self._assigned_once else None
        if wide is None or not all(isinstance(e, _COPYABLE) for e in expressions(wide)):
            return ()
        name = self.fresh(s.var.name.partition(".")[0])
        var = self._wide_variables[s.var.name] = ir.Var(name, WEAK_INT, s.span)
        return (ir.Assign(var, wide, s.span),)

    def _widened(self, e: ir.Expr) -> ir.Expr | None:
        """Return int32 arithmetic with converted int64s in 64 bits; None for other indices.

        Loop counters have 64 bits on the CPU, and C compilers find strides only without
        conversions. An ``ir.Binary`` of signed integers does not overflow.
        """
        if self.rules.narrow_ints:
            return None
        match e:
            case ir.Var():
                return self._wide_variables.get(e.name)
            case ir.Cast():
                return cast(e.operand, WEAK_INT) if id(e) in self.exact_casts else None
            case ir.Binary(op=op, type=Scalar(dtype=dtypes.INT32)) if op in (ADD, SUB, MUL):
                left, right = self._widened(e.left), self._widened(e.right)
                if left is None and right is None:
                    return None
                left, right = left or cast(e.left, WEAK_INT), right or cast(e.right, WEAK_INT)
                return replace(e, left=left, right=right, type=WEAK_INT)
            case _:
                return None

    def legalize(
        self, array: ir.Var, old: tuple[ir.Expr, ...], new: tuple[ir.Expr, ...]
    ) -> tuple[ir.Expr, ...]:
        """Return the indices of an access; ``old`` are the nodes that the ranges refer to."""
        assert isinstance(array.type, Array)
        if is_linear_index(array.type, old):  # the frontend has checked it
            return new
        return tuple(self._index(array, axis, o, n) for axis, (o, n) in enumerate(zip(old, new)))

    def _index(self, array: ir.Var, axis: int, old: ir.Expr, new: ir.Expr) -> ir.Expr:
        """Normalize a negative index: statically, at run time, or not at all."""
        if ir.in_cluster(array) and axis == 0:
            return new
        interval = self.ranges.of(old)
        if interval.low >= 0 or not (self.rules.wraparound or isinstance(new, ir.Const)):
            return self._widened(new) or new
        key = (array.name, axis, id(old))
        if key not in self._cache:
            self._cache[key] = self._normalize_index(array, axis, new, interval)
        return self._cache[key]

    def _normalize_index(
        self, array: ir.Var, axis: int, index: ir.Expr, interval: Interval
    ) -> ir.Expr:
        length = self._length(array, axis, index)
        if isinstance(index, ir.Const):
            offset = const(-int(index.value), index.span, scalar_type(length))
            return binary(SUB, length, offset, index.span)
        if interval.high < 0:
            return binary(ADD, length, cast(index, scalar_type(length)), index.span)
        return self._normalize(array, axis, index)

    def _normalize(self, array: ir.Var, axis: int, index: ir.Expr) -> ir.Expr:
        length = self._length(array, axis, index)
        kind, span = scalar_type(length), index.span

        def from_start(value: ir.Expr) -> ir.Expr:
            negative = binary(LT, value, const(0, span, kind), span)
            return ir.Select(negative, binary(ADD, value, length, span), value, kind, span)

        return let(cast(index, kind), "at", self.fresh, from_start)

    def _length(self, array: ir.Var, axis: int, index: ir.Expr) -> ir.Expr:
        """Return the length of an axis in a type that also holds the index."""
        assert isinstance(array.type, Array)
        use_32_bits = self.rules.index32
        if array.type.shape is not None:
            length: ir.Expr = integer(array.type.shape[axis], index.span)
        else:
            length = ir.Dim(array, axis, index.span, WEAK_INT32 if use_32_bits else WEAK_INT)
        fits = use_32_bits and scalar_type(index).dtype is dtypes.INT32
        return cast(length, scalar_type(index) if fits else WEAK_INT)

    def subscript(self, e: ir.Apply, interval: Interval) -> ir.Expr:
        """Legalize a slice bound, or an index of a view, with the given range."""
        operand, operand_type = e.arguments[0], scalar_type(e.arguments[0])
        if e.intrinsic is index_from_end and not self.rules.wraparound:
            return cast(operand, scalar_type(e))
        length = cast(e.arguments[1], operand_type)
        lowest, clamp_below, clamp_above = _SUBSCRIPT_RULES[e.intrinsic]

        def clamp(bound: ir.Expr) -> ir.Expr:
            result = bound
            if clamp_above or (clamp_below and interval.high > self.rules.max_elements):
                highest = (
                    binary(ADD, length, const(lowest, e.span, operand_type), e.span)
                    if lowest
                    else length
                )
                result = ir.Apply(REGISTRY["min"], (bound, highest), operand_type, e.span)
            if interval.low < 0:
                from_end = binary(ADD, bound, length, e.span)
                if clamp_below:
                    lower_limit = const(lowest, e.span, operand_type)
                    limits = from_end, lower_limit
                    from_end = ir.Apply(REGISTRY["max"], limits, operand_type, e.span)
                negative = binary(LT, bound, const(0, e.span, operand_type), e.span)
                result = (
                    from_end
                    if interval.high < 0
                    else ir.Select(negative, from_end, result, operand_type, e.span)
                )
            return cast(result, scalar_type(e))

        return let(operand, "bound", self.fresh, clamp)
