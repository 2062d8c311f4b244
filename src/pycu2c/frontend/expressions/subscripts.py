"""Subscripts: ``a[i, 1:n]``, ``t[0]``, ``r['x']``, and the targets of assignments to them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import EnumMeta
from typing import NoReturn, TypeVar

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, MemorySpace
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import (
    assign_temporary,
    assign_unless_invariant,
    materialize,
    materialize_effects,
    materialize_view,
)
from pycu2c.frontend.expressions import (
    arithmetic,
    array_views,
    attributes,
    comprehensions,
    constant_tables,
    vectors,
)
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.expressions.array_views import (
    ArrayValue,
    EllipsisIndex,
    SliceBounds,
    Subscript,
)
from pycu2c.frontend.expressions.composite_values import type_of
from pycu2c.frontend.expressions.subscript_syntax import (
    array_subscripts,
    evaluate_after_owner,
    materialize_index,
)
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements import branches
from pycu2c.frontend.statements.exceptions import raise_if
from pycu2c.frontend.value_checks import (
    describe,
    is_array,
    is_number,
    is_vector,
    require_number,
    require_value,
)
from pycu2c.frontend.values import ArraySelect, StaticObject, TupleValue, Value
from pycu2c.ir.bit_patterns import elements_per_number
from pycu2c.ir.builders import integer, logical
from pycu2c.ir.nodes import Apply, Const, Expr, LogicalOp, View
from pycu2c.ops.intrinsics.memory.subscripts import index_from_end
from pycu2c.ops.operators import GE, LT


def subscript(context: FunctionContext, node: ast.Subscript) -> Value:
    """Lower ``owner[index]``: an item, a slice of a tuple, an element, a view or a field."""
    return attributes.load_elements(
        context, _subscript_of(context, context.value(node.value), node)
    )


def _subscript_of(context: FunctionContext, owner: Value, node: ast.Subscript) -> Value:
    """Lower a subscript; an element stays a view without axes."""
    if isinstance(owner, StaticObject) and isinstance(owner.value, range):
        owner = TupleValue(comprehensions.static_items(owner), owner.span)
    if isinstance(owner, StaticObject) and isinstance(owner.value, EnumMeta):
        member = ast.Attribute(node.value, vectors.component_name(context, node), ast.Load())
        return name_resolution.attribute(
            context, owner, member.attr, ast.copy_location(member, node)
        )
    if isinstance(owner, TupleValue):
        items = materialize_effects(context, owner)
        assert isinstance(items, TupleValue)
        return _tuple_item(context, items, node)
    if is_vector(owner):
        return vectors.component(
            require_value(owner), vectors.component_name(context, node), context.span(node)
        )
    span = context.span(node)
    return _array_subscript(context, owner, node, lambda a, name: _field_by_name(a, name, span))


def _array_subscript(
    context: FunctionContext,
    owner: Value,
    node: ast.Subscript,
    field: Callable[[ArrayValue, StaticObject], View],
) -> Value:
    """Return ``owner[index]`` of an array as a view; ``field`` returns the view of a field."""
    owner, indices = evaluate_after_owner(context, owner, node.slice)

    def view(array: ArrayValue) -> View:
        if len(indices) == 1 and isinstance(indices[0], StaticObject):
            return field(array, indices[0])
        return _indexed_view(context, array, array_subscripts(indices), context.span(node))

    if isinstance(owner, ArraySelect):
        indices = [materialize_index(context, index) for index in indices]
    else:
        owner = _with_evaluated_lengths(context, require_array(context, owner, node.value), indices)
    return branches.for_each_array(context, owner, view)


def _indexed_view(
    context: FunctionContext, array: ArrayValue, indices: list[Subscript], span: Span
) -> View:
    if array_views.is_record(array) and not array_views.array_type(array).ndim:
        return _field_by_position(array, indices, span)
    view = array_views.subscript_view(array, indices, span)
    # each element of a wide view is read as several
    return view if elements_per_number(view) == 1 else materialize_view(context, view, "start")


def _with_evaluated_lengths(
    context: FunctionContext, array: ArrayValue, indices: list[Subscript | StaticObject]
) -> ArrayValue:
    """Evaluate the lengths of a slice that is sliced again, whose bounds depend on them."""
    if not isinstance(array, View) or not any(isinstance(i, SliceBounds) for i in indices):
        return array
    lengths = tuple(assign_unless_invariant(context, e, "length") for e in array.lengths)
    return replace(array, lengths=lengths)


def _field_by_name(array: ArrayValue, name: StaticObject, span: Span) -> View:
    """Lower ``a['x']``."""
    field = array_views.field_view(array_views.whole_view(array, name.span), str(name.value), span)
    if field is None:
        attributes.report_no_field(array, str(name.value), name.span)
    return field


def _field_by_position(record: ArrayValue, indices: list[Subscript], span: Span) -> View:
    """Lower ``r[0]``: a field by its number."""
    fields = array_views.array_type(record).dtype.fields
    (index,) = indices if len(indices) == 1 else (None,)
    if not isinstance(index, Const) or not index.type.dtype.is_integral:
        array_views.report_index_count(array_views.array_type(record), len(indices), span)
    if not -len(fields) <= index.value < len(fields):
        text = f"the record has {hints.count_phrase(len(fields), 'field')}"
        fail("index-range", Label(index.span, text), hint=hints.valid_indices(len(fields)))
    name = fields[int(index.value)].name
    field = array_views.field_view(array_views.whole_view(record, span), name, span)
    assert field is not None
    return field


def item_at(
    context: FunctionContext, array: ArrayValue | ArraySelect, index: Expr, span: Span
) -> Value:
    """Return ``array[index]``: an element, or a view of a row."""
    return branches.for_each_array(
        context, array, lambda a: array_views.subscript_value(a, [index], span)
    )


# ---- targets of assignments --------------------------------------------------------------------


def target_view(context: FunctionContext, node: ast.Subscript) -> View | ArraySelect:
    """Return the view of a subscript target: ``a[i, j]``, ``a[i, 1:]`` or ``a[i]['x']``."""
    span = context.span(node)
    target = _array_subscript(
        context,
        owner_view(context, node.value),
        node,
        lambda a, name: record_field_view(context, a, str(name.value), span),
    )
    assert isinstance(target, (View, ArraySelect))
    return target


def owner_view(context: FunctionContext, node: ast.expr) -> ArrayValue | ArraySelect:
    """Return the array, record or vector in memory that contains a target."""
    value = _unloaded_value(context, node)
    if isinstance(value, (View, ArraySelect)) and not value.type.dtype.has_fields:
        value = attributes.load_elements(context, value)
    return value if isinstance(value, ArraySelect) else require_array(context, value, node)


def _unloaded_value(context: FunctionContext, node: ast.expr) -> Value:
    match node:
        case ast.Subscript(value=owner):
            return _subscript_of(context, _unloaded_value(context, owner), node)
        case ast.Attribute(value=owner):
            return attributes.attribute_view(context, _unloaded_value(context, owner), node)
        case _:
            return context.value(node)


def single_element_view(array: ArrayValue, indices: list[Subscript], span: Span) -> View:
    """Return the view of the element that indices name; report a slice."""
    array_type = array_views.array_type(array)
    if any(isinstance(item, (SliceBounds, EllipsisIndex)) for item in indices):
        fail(
            "index-count",
            Label(span, f"this is several elements of `{array_type}`"),
            hint="one element is meant: a[i]",
        )
    if len(indices) != array_type.ndim:
        array_views.report_index_count(array_type, len(indices), span)
    return array_views.subscript_view(array, indices, span)


Target = TypeVar("Target", bound=View | ArraySelect)


def check_writable(target: Target, span: Span) -> Target:
    """Return the view of a target; report one in a constant array."""
    views = target.arrays if isinstance(target, ArraySelect) else (target,)
    arrays = (array_views.whole_view(view, span).array for view in views)
    if any(array_views.array_type(array).space is MemorySpace.CONSTANT for array in arrays):
        fail(
            "assignment-target",
            Label(span, "an array from outside of the kernel is a constant"),
            hint="pass the array as an argument of the kernel",
        )
    return target


def record_field_view(context: FunctionContext, array: ArrayValue, name: str, span: Span) -> View:
    """Return the view of a field of one record."""
    view = array_views.whole_view(array, span)
    if not view.type.dtype.has_fields:
        _report_no_record(view, name, span)
    if view.axes:
        fail(
            "type-needed",
            Label(span, f"`{view.type}` is an array"),
            hint=f"set the field of one: a[i].{name} = …",
        )
    field = array_views.field_view(view, name, span)
    if field is None:
        attributes.report_no_field(view, name, span)
    return field


def require_array(context: FunctionContext, value: Value, node: ast.expr) -> ArrayValue:
    """Return a value as an array, or report an error."""
    if is_array(value):
        return value
    if isinstance(value, StaticObject):
        _report_not_an_array(context, value, node)
    if is_vector(value):
        fail(
            "assignment-target",
            Label(context.span(node), f"this `{require_value(value).type}` is not in a variable"),
            hint="give it a name, and assign the component of that: v = …, v.x = …",
        )
    if isinstance(value, TupleValue):
        text = f"a list or tuple of {len(value.items)}, whose items cannot be assigned"
        fail(
            "assignment-target",
            Label(context.span(node), text),
            hint="keep numbers that change in variables, or in cuda.local.array(n, dtype)",
        )
    fail(
        "type-needed",
        Label(context.span(node), f"this is {describe(value)}, not an array"),
        hint="only arrays and tuples have elements",
    )


def _report_not_an_array(context: FunctionContext, value: StaticObject, node: ast.expr) -> NoReturn:
    span, hint = context.span(node), hints.instead_of_array(value.value)
    if not isinstance(value.value, (list, dict, set)) and not hasattr(value.value, "__dlpack__"):
        fail("type-needed", Label(span, f"this is {describe(value)}, not an array"), hint=hint)
    class_name = type(value.value).__name__
    fail(
        "global-value",
        Label(span, f"this is a {class_name}, from outside of the kernel"),
        hint=hint,
    )


def _report_no_record(array: ArrayValue, name: str, span: Span) -> NoReturn:
    """Report an assignment to an attribute of an array of numbers."""
    text, hint = f"`{array.type}` has no field `{name}`", "set an element: a[i] = …"
    if name in ("shape", "strides", "dtype", "T", "size", "ndim"):
        text, hint = f"an array keeps its {name}", "change it before the launch"
    fail("assignment-target", Label(span, text), hint=hint)


# ---- items of tuples, fields of records ---------------------------------------------------------


def _tuple_item(context: FunctionContext, owner: TupleValue, node: ast.Subscript) -> Value:
    """Lower an item or a slice of a tuple."""
    if isinstance(node.slice, ast.Slice):
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        selection = slice(*(None if b is None else _constant(context, b) for b in bounds))
        if selection.step == 0:
            fail(
                "constant-needed",
                Label(context.span(node.slice), "the step of a slice is not 0"),
                hint="write another step, or none",
            )
        return TupleValue(owner.items[selection], context.span(node))
    if owner.names and isinstance(node.slice, (ast.Constant, ast.Name)):
        key = context.value(node.slice)  # a field of a record
        if (
            isinstance(key, StaticObject)
            and isinstance(key.value, str)
            and key.value in owner.names
        ):
            return owner.items[owner.names.index(key.value)]
    index = context.value(node.slice)
    if isinstance(index, TupleValue) and len(index.items) > 1:
        return _nested_item(context, owner, index, node)
    return _indexed_item(context, owner, index, node)


def _indexed_item(
    context: FunctionContext, owner: TupleValue, index_value: Value, node: ast.Subscript
) -> Value:
    if is_number(index_value) and not isinstance(index_value, Const):
        return _computed_item(context, owner, index_value, node)
    index = _constant_index(index_value, context.span(node.slice))
    count = len(owner.items)
    if index is None or not -count <= index < count:
        fail(
            "index-range",
            Label(context.span(node.slice), _out_of_range_text(node.value, count)),
            hint=hints.valid_indices(count),
        )
    return owner.items[index]


def _out_of_range_text(owner: ast.expr, count: int) -> str:
    """Return the label for an index that is out of range."""
    if isinstance(owner, ast.Attribute) and owner.attr in ("shape", "strides"):
        return f"`{ast.unparse(owner.value)}` has {hints.count_phrase(count, 'axis')}"
    return f"the tuple has {hints.count_phrase(count, 'item')}"


def _nested_item(
    context: FunctionContext, owner: TupleValue, index: TupleValue, node: ast.Subscript
) -> Value:
    """Lower ``r.m[1, 0]``: a field with axes of a record argument, which is nested tuples."""
    item: Value = owner
    for item_index in index.items:
        if not isinstance(item, TupleValue):
            fail(
                "index-count",
                Label(context.span(node), hints.count_phrase(len(index.items), "index")),
                hint="write one for each axis",
            )
        item = _indexed_item(context, item, item_index, node)
    return item


def _computed_item(
    context: FunctionContext, owner: TupleValue, index: Expr, node: ast.Subscript
) -> Value:
    """Lower ``t[i]`` with a computed index: items of one type, or numbers in their common type."""
    if context.devices.options.checked:
        index = require_number(materialize(context, index, "index"))
        _raise_unless_in_range(context, index, len(owner.items), context.span(node))
    promoted = branches.promote_items(owner)
    return _select_item(context, promoted, index, node)


def _raise_unless_in_range(context: FunctionContext, index: Expr, count: int, span: Span) -> None:
    """Emit the check of a computed index of a tuple, in a checked kernel."""
    is_low = arithmetic.compare(context, LT, index, integer(-count, span), span)
    is_high = arithmetic.compare(context, GE, index, integer(count, span), span)
    is_outside = logical(LogicalOp.OR, is_low, is_high, span)
    raise_if(context, is_outside, ("tuple index out of range",), [], span, IndexError)


def _select_item(
    context: FunctionContext, owner: TupleValue, index: Expr, node: ast.Subscript
) -> Value:
    types = {type_of(item) for item in owner.items}
    span = context.span(node)
    if len(types) > 1 or not owner.items:
        type_list = ", ".join(map(str, (type_of(item) for item in owner.items)))
        fail(
            "constant-needed",
            Label(context.span(node.slice), f"an index into ({type_list})"),
            hint="a computed index requires items that are numbers, or tuples of the same length "
            "and types",
        )
    selected = constant_tables.lookup_in_row(
        owner.items, index, span
    ) or constant_tables.lookup_item(context, owner, index, node, span)
    if selected is not None:
        return selected
    count = integer(len(owner.items), span)
    from_start = Apply(index_from_end, (require_integer(index), count), WEAK_INT, index.span)
    selector = assign_temporary(context, from_start, "at")
    selected = branches.merge_values(selector, owner.items, span)
    if selected is None:
        fail(
            "constant-needed",
            Label(context.span(node.slice), "an index into values that are no numbers"),
            hint="write a literal",
        )
    return selected


def _constant(context: FunctionContext, node: ast.expr) -> int | None:
    return _constant_index(context.value(node), context.span(node))


def _constant_index(value: Value, span: Span) -> int | None:
    if isinstance(value, StaticObject) and value.value is None:
        return None
    if isinstance(value, Const) and value.type.dtype.is_integral:
        return int(value.value)
    fail(
        "constant-needed",
        Label(span, "the index of a tuple"),
        hint="write a literal as index; for a computed index, use a global numpy array or "
        "cuda.local.array",
    )
