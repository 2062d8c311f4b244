"""Slice operations on arrays that may overlap: the order of the loops, or an error.

NumPy computes as if it read all elements before it writes any. A loop that writes elements in order
does the same if it reads each element before it overwrites it. Two slices of one array with equal
steps are shifted: a backward loop suits a target that starts behind the source, and a forward loop
any other. Other pairs of slices of one array are an error.

Two parameters may be the same array. The same order of loops is then correct if it is exactly the
same array; what a launch must not pass is recorded as an ``OverlapRule``.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.parameters import OverlapRule
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.array_select import field_path
from pycu2c.frontend.expressions.array_views import are_equal
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import is_array
from pycu2c.ir.bit_patterns import elements_per_number
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import Const, Expr, Var, View
from pycu2c.ir.views import multiply, start_indices, start_position
from pycu2c.ops.operators import GT, SUB


class Relation(Enum):
    """How two views are related if they are views of the same array."""

    DISJOINT = auto()  # no elements in common
    ALIGNED = auto()  # the same elements at the same indices, or none in common
    SHIFTED = auto()  # equal steps, and starts that may differ along the axes of the views
    OTHER = auto()


def check_overlap(
    context: FunctionContext, targets: list[View], sources: list[View], span: Span
) -> tuple[int, int] | None:
    """Check that a loop can compute a slice operation on arrays that may be the same.

    Returns the positions of a target and a source that is shifted against it, if there are any:
    they determine the order of the loop.
    """
    if any(elements_per_number(view) > 1 for view in (*targets, *sources)):
        label = Label(span, "an array with a larger dtype than its memory")
        fail("argument-type", label, hint="assign its elements in a loop: out[i] = v[i]")
    label = Label(span, "these elements")
    shifted = []
    for position, target in enumerate(targets):
        for other in targets[:position]:
            if _may_share_memory(context, target.array, other.array):
                is_ordered = _relation(target, other) in (Relation.DISJOINT, Relation.ALIGNED)
                _require(context, target, other, is_ordered, label)
        for source_position, source in enumerate(sources):
            if not _may_share_memory(context, target.array, source.array):
                continue
            relation = _relation(target, source)
            if relation is Relation.SHIFTED:
                shifted.append((position, source_position))
            else:
                _require(context, target, source, relation is not Relation.OTHER, label)
    for position, source_position in shifted:
        _require(context, targets[position], sources[source_position], len(shifted) == 1, label)
    return shifted[0] if len(shifted) == 1 else None


def check_call(
    context: FunctionContext, rules: Collection[OverlapRule], arguments: tuple[Expr, ...]
) -> None:
    """Check the arrays that a call passes by the rules of the called function."""
    for rule in rules:
        written, read = arguments[rule.written], arguments[rule.read]
        if not (is_array(written) and is_array(read)):
            continue
        target = array_views.whole_view(written, written.span)
        source = array_views.whole_view(read, read.span)
        if _may_share_memory(context, target.array, source.array):
            relation = _relation(target, source)
            is_ordered = relation is Relation.DISJOINT or (
                relation is Relation.ALIGNED and rule.may_be_same
            )
            text = "the function assigns to these elements"
            _require(context, target, source, is_ordered, Label(written.span, text))


def _require(
    context: FunctionContext, target: View, source: View, may_be_same: bool, label: Label
) -> None:
    """Add the rule for the arrays of two views, or report an error if they are one array."""
    written = context.array_parameters.get(target.array.name)
    read = context.array_parameters.get(source.array.name)
    if written is not None and read is not None and written != read:
        context.overlap_rules.add(OverlapRule(written, read, may_be_same))
    elif not may_be_same:
        fail(
            "slice-assign",
            label,
            Label(source.span, "and these may overlap them, in another order"),
            hint="write a loop with the intended order, or use another array",
        )


def backward_axes(target: View, source: View, span: Span) -> list[bool | Expr]:
    """Return, per axis, whether the loop runs from the last element to the first.

    Element i of the target is element j of the source if ``i - j`` is the distance of the source's
    start from that of the target in steps. If it is negative, a forward loop writes the element
    before it reads it.
    """
    starts, source_starts = start_indices(target), start_indices(source)
    arrays = target.array.name, source.array.name
    result: list[bool | Expr] = []
    for axis, step in enumerate(target.steps):
        position = start_position(target, axis)
        start, source_start = starts[position], source_starts[position]
        distance = multiply(step, binary(SUB, start, source_start, span))
        if are_equal(start, source_start, arrays):
            result.append(False)
        elif (
            isinstance(start, Const) and isinstance(source_start, Const) and isinstance(step, Const)
        ):
            result.append(bool((start.value - source_start.value) * step.value > 0))
        else:
            result.append(binary(GT, distance, integer(0, span), span))
    return result


# ---- views of the same array ---------------------------------------------------------------------


def _relation(target: View, source: View) -> Relation:
    """Return the relation of two views if their arrays are the same one."""
    if any(a != b for a, b in zip(field_path(target), field_path(source))):
        return Relation.DISJOINT  # different fields of records
    if _have_different_constants(target, source):
        return Relation.DISJOINT
    arrays = target.array.name, source.array.name
    has_equal_layout = (
        _element(target) == _element(source)
        and target.axes == source.axes
        and len(target.first) == len(source.first)
        and field_path(target) == field_path(source)
        and all(are_equal(*steps, arrays) for steps in zip(target.steps, source.steps))
        and not any(map(_is_broadcast, target.lengths, source.lengths))
    )
    if not has_equal_layout:
        return Relation.OTHER
    starts, source_starts = start_indices(target), start_indices(source)
    positions = [start_position(target, axis) for axis in range(len(target.axes))]
    if array_views.has_linear_index(target) and len(target.axes) > 1:
        positions = list(range(len(starts)))  # the axes are not those of the array
        shifted = Relation.OTHER
    else:
        shifted = Relation.SHIFTED
    is_aligned = all(are_equal(starts[n], source_starts[n], arrays) for n in positions)
    return Relation.ALIGNED if is_aligned else shifted


def _have_different_constants(target: View, source: View) -> bool:
    """Return whether the views have different constant indices along an axis of the array."""
    if array_views.has_linear_index(target) or array_views.has_linear_index(source):
        return False
    axes = set(range(min(len(target.first), len(source.first))))
    pairs = [(target.first[n], source.first[n]) for n in axes - {*target.axes, *source.axes}]
    return any(
        isinstance(a, Const)
        and isinstance(b, Const)
        and a.value != b.value
        and (a.value < 0) is (b.value < 0)
        for a, b in pairs
    )


def _element(view: View) -> Scalar:
    """Return the element type of the array of a view."""
    return array_views.array_type(view.array).element


def _is_broadcast(length: Expr, source_length: Expr) -> bool:
    """Return whether a source has one element along an axis, and the target may have more."""
    is_one = isinstance(source_length, Const) and source_length.value == 1
    return is_one and not (isinstance(length, Const) and length.value == 1)


# ---- arrays that may be the same -----------------------------------------------------------------


def _may_share_memory(context: FunctionContext, a: Var, b: Var) -> bool:
    first, second = array_views.array_type(a), array_views.array_type(b)
    if a.name == b.name:
        return True
    if first.space is not second.space or first.space is MemorySpace.CONSTANT:
        return False
    are_parameters = {a.name, b.name} <= context.array_parameters.keys()
    return are_parameters or (_is_dynamic_shared(first) and _is_dynamic_shared(second))


def _is_dynamic_shared(array: Array) -> bool:
    """Return whether an array is in dynamic shared memory, where all arrays have one address."""
    return array.space is MemorySpace.SHARED and array.shape is None
