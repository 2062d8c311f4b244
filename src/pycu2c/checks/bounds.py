"""Check that indices are within their arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import reduce

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.checks.context import Bindings, CheckContext, Guard, all_of, compare, or_record
from pycu2c.checks.device_functions.recording import NO_ELEMENT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import array_type, binary, cast, const, integer, unary
from pycu2c.ir.expressions import Path, field_type
from pycu2c.ir.name_suffixes import source_name
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.walk import expressions
from pycu2c.ops.intrinsics.memory.subscripts import from_start, index_from_end
from pycu2c.ops.operators import GE, LT, MUL, NEG


def guard_access(
    context: CheckContext, access: ir.Load | ir.ElementOf | ir.Store, indices: tuple[ir.Expr, ...]
) -> tuple[Guard, tuple[ir.Expr, ...]]:
    """Return the guard of an access, and the indices to use with it.

    access: the node before it was instrumented, to which the ranges refer. indices: its
    instrumented indices.
    """
    array, is_linear = access.array, is_linear_index(array_type(access.array), access.indices)
    unproved = {
        axis
        for axis in range(len(indices))
        if not (axis == 0 and ir.in_cluster(array))
        and not _is_proved(context, access, axis, is_linear)
    }
    lengths = {0: _element_count(array)} if is_linear else _lengths(array)
    return _IndexChecks(context).guard_axes(access, indices, unproved, lengths)


def guard_subscript(context: CheckContext, e: ir.Apply, checked: ir.Apply) -> ir.Expr:
    """Return an index of a view that has no element where it is out of bounds."""
    if _is_proved_subscript(context, e) or "memory" not in context.groups:
        return checked
    checks = _IndexChecks(context)
    length, binding = context.bind(checked.arguments[1], "length")
    index = checks.add(0, checked.arguments[0], length, is_proved=False)
    no_element = const(NO_ELEMENT, e.span, WEAK_INT)
    guard = checks.guard("", e.span)
    assert guard.condition is not None
    valid = replace(checked, arguments=(index, length))
    chosen = ir.Select(guard.condition, valid, no_element, WEAK_INT, e.span)
    return Guard((*binding, *guard.bindings)).expression(chosen)


def guard_view(context: CheckContext, original: ir.View, view: ir.View) -> tuple[Guard, ir.View]:
    """Return the guard of the indices that a view fixes, such as ``i`` in ``a[i]``."""
    if len(view.first) != array_type(view.array).ndim:
        return Guard(), view
    lengths = {axis: n for axis, n in _lengths(view.array).items() if axis not in view.axes}
    first = original.first
    unproved = {axis for axis in lengths if not _is_within(context, first[axis], view.array, axis)}
    guard, first = _IndexChecks(context).guard_axes(view, view.first, unproved, lengths)
    return guard, replace(view, first=first)


def guard_path(
    context: CheckContext, element: ir.ElementOf, change: Callable[[ir.Expr], ir.Expr]
) -> tuple[Guard, Path]:
    """Return the guard of the indices of array fields, and the path to use with it.

    element: before it was instrumented. change: instruments an index.
    """
    checks = _IndexChecks(context)
    kind = array_type(element.array).element
    path: list[str | ir.Expr] = []
    for k, step in enumerate(element.path):
        if isinstance(step, str):
            path.append(step)
            continue
        length = field_type(kind, element.path[:k]).dtype.extents[0]
        path.append(checks.add_field(step, length, change))
    if not checks.is_needed:
        return Guard(checks.bindings), tuple(path)
    return checks.guard(field_name(element.array.name, element.path), element.span), tuple(path)


@dataclass(slots=True)
class _IndexChecks:
    """The checks of the indices of one access."""

    context: CheckContext
    bindings: Bindings = ()
    _conditions: list[ir.Expr] = field(default_factory=list)
    _values: dict[str, ir.Expr] = field(default_factory=dict)

    def add(self, axis: int, index: ir.Expr, length: ir.Expr, *, is_proved: bool) -> ir.Expr:
        """Add an index, which is checked if it is not proved; return a variable or constant."""
        if isinstance(index, ir.Apply) and index.intrinsic is from_start:
            lowest: ir.Expr = integer(0, index.span)
            at = self._add(axis, index.arguments[0], (lowest, length), is_proved)
            return ir.Apply(from_start, (at,), WEAK_INT, index.span)
        is_from_end = self.context.wraparound
        lowest = unary(NEG, length, index.span) if is_from_end else integer(0, index.span)
        return self._add(axis, index, (lowest, length), is_proved)

    def add_field(
        self, index: ir.Expr, length: int, change: Callable[[ir.Expr], ir.Expr]
    ) -> ir.Expr:
        """Add an index of an array field; return it as one that counts from the start."""
        is_from_end = isinstance(index, ir.Apply) and index.intrinsic is index_from_end
        operand = index.arguments[0] if isinstance(index, ir.Apply) and is_from_end else index
        interval, count = self.context.ranges.of(operand), integer(length, index.span)
        lowest = -length if is_from_end else 0
        is_proved = lowest <= interval.low and interval.high < length
        bounds, axis = (integer(lowest, index.span), count), len(self._values) // 2
        at = self._add(axis, change(operand), bounds, is_proved)
        if interval.low >= 0 or not is_from_end:
            return at
        return ir.Apply(index_from_end, (at, count), WEAK_INT, index.span)

    def _add(
        self, axis: int, index: ir.Expr, bounds: tuple[ir.Expr, ir.Expr], is_proved: bool
    ) -> ir.Expr:
        at, binding = self.context.bind(cast(index, WEAK_INT), "at")
        self.bindings = (*self.bindings, *binding)
        if not is_proved:
            self._conditions += compare(GE, at, bounds[0]), compare(LT, at, bounds[1])
        self._values |= {f"index{axis}": at, f"length{axis}": bounds[1]}
        return at

    @property
    def is_needed(self) -> bool:
        return bool(self._conditions) and "memory" in self.context.groups

    def guard(self, array: str, span: Span) -> Guard:
        failure = self.context.failure("out-of-bounds", span, array, self._values)
        return Guard(self.bindings, or_record(all_of(self._conditions), failure))

    def guard_axes(
        self,
        access: ir.Load | ir.ElementOf | ir.Store | ir.View,
        indices: tuple[ir.Expr, ...],
        unproved: Set[int],
        lengths: Mapping[int, ir.Expr],
    ) -> tuple[Guard, tuple[ir.Expr, ...]]:
        """Return the guard of indices on the axes of ``lengths``, and the indices to use."""
        if not unproved or "memory" not in self.context.groups:
            return Guard(), indices
        checked = list(indices)
        for axis, length in lengths.items():
            checked[axis] = self.add(axis, indices[axis], length, is_proved=axis not in unproved)
        return self.guard(source_name(access.array.name), access.span), tuple(checked)


def field_name(array: str, path: Path) -> str:
    """Return the name of an array, and of the fields that an access selects."""
    return ".".join((source_name(array), *(step for step in path if isinstance(step, str))))


def _lengths(array: ir.Var) -> dict[int, ir.Expr]:
    """Return the lengths of an array, by axis."""
    kind, span = array_type(array), array.span
    if kind.shape is not None:
        return {axis: integer(length, span) for axis, length in enumerate(kind.shape)}
    return {axis: ir.Dim(array, axis, span) for axis in range(kind.ndim)}


def _element_count(array: ir.Var) -> ir.Expr:
    """Return the number of elements of an array of several axes."""
    return reduce(lambda a, b: binary(MUL, a, b, array.span), _lengths(array).values())


# ---- proofs ------------------------------------------------------------------------------------


def _is_proved(
    context: CheckContext,
    access: ir.Load | ir.ElementOf | ir.Store,
    axis: int,
    is_linear: bool,
) -> bool:
    index = access.indices[axis]
    subscripts = [x for x in expressions(index) if isinstance(x, ir.Apply)]
    if not all(_is_proved_subscript(context, s) for s in subscripts):
        return False
    if is_linear:
        return False
    # the range of an index from the start has no negative numbers: these are out of bounds
    if isinstance(index, ir.Apply) and index.intrinsic is from_start:
        operand, length = context.ranges.of(index.arguments[0]), context.ranges.length
        return operand.low >= 0 and operand.high < length(access.array, axis).low
    if any(s.intrinsic is from_start for s in subscripts):
        return False
    return context.ranges.is_in_bounds(access, axis) or _is_within(
        context, index, access.array, axis
    )


def _is_within(context: CheckContext, index: ir.Expr, array: ir.Var, axis: int) -> bool:
    """Return whether the range of an index is within the shortest length of an axis."""
    interval, length = context.ranges.of(index), context.ranges.length(array, axis)
    lowest = -length.low if context.wraparound or isinstance(index, ir.Const) else 0
    return lowest <= interval.low and interval.high < length.low


def _is_proved_subscript(context: CheckContext, e: ir.Apply) -> bool:
    """Return whether an index of a view is proved to be in bounds; other operations are."""
    if e.intrinsic is not index_from_end:
        return True
    index, length = map(context.ranges.of, e.arguments)
    return -length.low <= index.low and index.high < length.low
