"""Subscripts and attributes: ``a[i, 1:n]``, ``t[0]``, ``a.shape``, ``p.x``."""

from __future__ import annotations

import ast
from enum import EnumMeta
from typing import NoReturn, TypeVar

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import WEAK_INT, MemorySpace, Scalar
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import assign_temporary, materialize_effects
from pycu2c.frontend.expressions import (
    arithmetic,
    array_views,
    comprehensions,
    constant_tables,
    enum_members,
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
    after_owner,
    array_subscripts,
    materialize_index,
)
from pycu2c.frontend.function_context import (
    ArraySelect,
    Closure,
    FunctionContext,
    StaticObject,
    TupleValue,
    Value,
    describe,
    is_array,
    is_number,
    is_vector,
    require_number,
    require_value,
)
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements import branches
from pycu2c.ir.builders import const, integer, scalar_type
from pycu2c.ir.nodes import Apply, Const, Expr, Member, Pack, Stride, View
from pycu2c.ir.views import stride_inside_field
from pycu2c.ops.intrinsics.memory.subscripts import index_from_end


def subscript(context: FunctionContext, node: ast.Subscript) -> Value:
    """Lower ``owner[index]``: an item, a slice of a tuple, an element, a view or a field."""
    return _read(context, _subscript_of(context, context.value(node.value), node))


def _subscript_of(context: FunctionContext, owner: Value, node: ast.Subscript) -> Value:
    """Lower a subscript; an element stays a view without axes."""
    if isinstance(owner, StaticObject) and isinstance(owner.value, range):
        owner = TupleValue(comprehensions.static_items(owner), owner.span)
    if isinstance(owner, StaticObject) and isinstance(owner.value, EnumMeta):
        named = ast.Attribute(node.value, vectors.component_name(context, node), ast.Load())
        return name_resolution.attribute(context, owner, named.attr, ast.copy_location(named, node))
    if isinstance(owner, TupleValue):
        items = materialize_effects(context, owner)
        assert isinstance(items, TupleValue)
        return _item(context, items, node)
    if is_vector(owner):
        return vectors.component(
            require_value(owner), vectors.component_name(context, node), context.span(node)
        )
    owner, given = after_owner(context, owner, node.slice)
    if isinstance(owner, ArraySelect):
        once = [materialize_index(context, item) for item in given]
        return branches.for_each_array(
            context, owner, lambda array: _subscripted(context, array, once, node)
        )
    array = require_array(context, owner, node.value)
    return _subscripted(context, array, given, node)


def _subscripted(
    context: FunctionContext,
    array: ArrayValue,
    given: list[Subscript | StaticObject],
    node: ast.Subscript,
) -> Value:
    if len(given) == 1 and isinstance(given[0], StaticObject):
        return _key(context, array, given[0], node)
    if array_views.is_record(array) and not array_views.array_type(array).ndim:
        return _by_position(array, array_subscripts(given), context.span(node))
    return array_views.subscript_view(array, array_subscripts(given), context.span(node))


def _by_position(record: ArrayValue, given: list[Subscript], span: Span) -> View:
    """Lower ``r[0]``: a field by its number."""
    fields = array_views.array_type(record).dtype.fields
    (index,) = given if len(given) == 1 else (None,)
    if not isinstance(index, Const) or not index.type.dtype.is_integral:
        array_views.report_index_count(array_views.array_type(record), len(given), span)
    if not -len(fields) <= index.value < len(fields):
        text = f"the record has {hints.count_phrase(len(fields), 'field', 'fields')}"
        fail("index-range", Label(index.span, text), hint=hints.valid_indices(len(fields)))
    found = array_views.field_view(
        array_views.whole_view(record, span), fields[int(index.value)].name, span
    )
    assert found is not None
    return found


def item_at(context: FunctionContext, array: Value, index: Expr, span: Span) -> Value:
    """Return ``array[index]``: an element, or a view of a row."""
    if isinstance(array, ArraySelect):
        return branches.for_each_array(
            context, array, lambda known: array_views.subscript_value(known, [index], span)
        )
    assert is_array(array)
    return array_views.subscript_value(array, [index], span)


def target_view(context: FunctionContext, node: ast.Subscript) -> View | ArraySelect:
    """Return the view of a subscript target: ``a[i, j]``, ``a[i, 1:]`` or ``a[i]['x']``."""
    owner, given = after_owner(context, owner_view(context, node.value), node.slice)
    span = context.span(node)
    if not isinstance(owner, ArraySelect):
        return _element_in(context, require_array(context, owner, node.value), given, span)
    once = [materialize_index(context, item) for item in given]
    found = branches.for_each_array(
        context, owner, lambda array: _element_in(context, array, once, span)
    )
    assert isinstance(found, ArraySelect)
    return found


def _element_in(
    context: FunctionContext, array: ArrayValue, given: list[Subscript | StaticObject], span: Span
) -> View:
    if len(given) == 1 and isinstance(given[0], StaticObject):
        return record_field_view(context, array, str(given[0].value), span)
    if array_views.is_record(array) and not array_views.array_type(array).ndim:
        return _by_position(array, array_subscripts(given), span)
    return array_views.subscript_view(array, array_subscripts(given), span)


def owner_view(context: FunctionContext, node: ast.expr) -> ArrayValue | ArraySelect:
    """Return the array, record or vector in memory that contains a target."""
    value = _unloaded(context, node)
    if isinstance(value, (View, ArraySelect)) and not value.type.dtype.has_fields:
        value = _read(context, value)
    return value if isinstance(value, ArraySelect) else require_array(context, value, node)


def _read(context: FunctionContext, value: Value) -> Value:
    """Load an element from its view; other values are returned as they are."""
    if isinstance(value, ArraySelect) and not value.type.ndim:
        return branches.for_each_array(context, value, array_views.load_if_element)
    return array_views.load_if_element(value)


def _unloaded(context: FunctionContext, node: ast.expr) -> Value:
    match node:
        case ast.Subscript(value=owner):
            return _subscript_of(context, _unloaded(context, owner), node)
        case ast.Attribute(value=owner):
            return _attribute_of(context, _unloaded(context, owner), node)
        case _:
            return context.value(node)


def single_element_view(array: ArrayValue, given: list[Subscript], span: Span) -> View:
    """Return the view of the element that indices name; report a slice."""
    kind = array_views.array_type(array)
    if any(isinstance(item, (SliceBounds, EllipsisIndex)) for item in given):
        fail(
            "index-count",
            Label(span, f"this is several elements of `{kind}`"),
            hint="one element is meant: a[i]",
        )
    if len(given) != kind.ndim:
        array_views.report_index_count(kind, len(given), span)
    return array_views.subscript_view(array, given, span)


Target = TypeVar("Target", bound=View | ArraySelect)


def check_writable(place: Target, span: Span) -> Target:
    """Return the view of a target; report one in a constant array."""
    options = place.arrays if isinstance(place, ArraySelect) else (place,)
    arrays = (array_views.whole_view(option, span).array for option in options)
    if any(array_views.array_type(array).space is MemorySpace.CONSTANT for array in arrays):
        fail(
            "assignment-target",
            Label(span, "an array from outside of the kernel is a constant"),
            hint="pass the array as an argument of the kernel",
        )
    return place


def record_field_view(context: FunctionContext, array: ArrayValue, name: str, span: Span) -> View:
    """Return the view of a field of one record."""
    view = array_views.whole_view(array, span)
    if not view.type.dtype.has_fields:
        _no_record(view, name, span)
    if view.axes:
        fail(
            "type-needed",
            Label(span, f"`{view.type}` is an array"),
            hint=f"set the field of one: a[i].{name} = …",
        )
    found = array_views.field_view(view, name, span)
    if found is None:
        _no_field(view, name, span)
    return found


def require_array(context: FunctionContext, value: Value, node: ast.expr) -> ArrayValue:
    """Return a value as an array, or report an error."""
    if is_array(value):
        return value
    if isinstance(value, StaticObject):
        _not_an_array(context, value, node)
    if is_vector(value):
        fail(
            "assignment-target",
            Label(context.span(node), f"this `{require_value(value).type}` is not in a variable"),
            hint="give it a name, and assign the component of that: v = …, v.x = …",
        )
    if isinstance(value, TupleValue):
        fail(
            "assignment-target",
            Label(
                context.span(node),
                f"a list or tuple of {len(value.items)}, whose items cannot be assigned",
            ),
            hint="keep numbers that change in variables, or in cuda.local.array(n, dtype)",
        )
    fail(
        "type-needed",
        Label(context.span(node), f"this is {describe(value)}, not an array"),
        hint="only arrays and tuples have elements",
    )


def _not_an_array(context: FunctionContext, value: StaticObject, node: ast.expr) -> NoReturn:
    here, hint = context.span(node), hints.instead_of_global(value.value)
    if not isinstance(value.value, (list, dict, set)):
        fail("type-needed", Label(here, f"this is {describe(value)}, not an array"), hint=hint)
    kind = type(value.value).__name__
    fail("global-value", Label(here, f"this is a {kind}, from outside of the kernel"), hint=hint)


def _no_record(array: ArrayValue, name: str, span: Span) -> NoReturn:
    """Report an assignment to an attribute of an array of numbers."""
    text, hint = f"`{array.type}` has no field `{name}`", "set an element: a[i] = …"
    if name in ("shape", "strides", "dtype", "T", "size", "ndim"):
        text, hint = f"an array keeps its {name}", "change it before the launch"
    fail("assignment-target", Label(span, text), hint=hint)


# ---- items of tuples, fields of records ---------------------------------------------------------


def _item(context: FunctionContext, owner: TupleValue, node: ast.Subscript) -> Value:
    """Lower an item or a slice of a tuple."""
    if isinstance(node.slice, ast.Slice):
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        cut = slice(*(None if b is None else _constant(context, b) for b in bounds))
        if cut.step == 0:
            fail(
                "constant-needed",
                Label(context.span(node.slice), "the step of a slice is not 0"),
                hint="write another step, or none",
            )
        return TupleValue(owner.items[cut], context.span(node))
    if owner.names and isinstance(node.slice, (ast.Constant, ast.Name)):
        key = context.value(node.slice)  # a field of a record
        if (
            isinstance(key, StaticObject)
            and isinstance(key.value, str)
            and key.value in owner.names
        ):
            return owner.items[owner.names.index(key.value)]
    found = context.value(node.slice)
    if isinstance(found, TupleValue) and len(found.items) > 1:
        return _nested_item(context, owner, found, node)
    return _indexed_item(context, owner, found, node)


def _indexed_item(
    context: FunctionContext, owner: TupleValue, found: Value, node: ast.Subscript
) -> Value:
    if is_number(found) and not isinstance(found, Const):
        return _any_item(context, owner, found, node)
    index = _constant_index(found, context.span(node.slice))
    count = len(owner.items)
    if index is None or not -count <= index < count:
        fail(
            "index-range",
            Label(context.span(node.slice), _too_far(node.value, count)),
            hint=hints.valid_indices(count),
        )
    return owner.items[index]


def _too_far(owner: ast.expr, count: int) -> str:
    """Return the label for an index that is out of range."""
    if isinstance(owner, ast.Attribute) and owner.attr in ("shape", "strides"):
        return f"`{ast.unparse(owner.value)}` has {hints.count_phrase(count, 'axis', 'axes')}"
    return f"the tuple has {hints.count_phrase(count, 'item', 'items')}"


def _nested_item(
    context: FunctionContext, owner: TupleValue, index: TupleValue, node: ast.Subscript
) -> Value:
    """Lower ``r.m[1, 0]``: a field with axes of a record argument, which is nested tuples."""
    found: Value = owner
    for part in index.items:
        if not isinstance(found, TupleValue):
            fail(
                "index-count",
                Label(
                    context.span(node),
                    hints.count_phrase(len(index.items), "index", "indices"),
                ),
                hint="write one for each axis",
            )
        found = _indexed_item(context, found, part, node)
    return found


def _any_item(
    context: FunctionContext, owner: TupleValue, index: Expr, node: ast.Subscript
) -> Value:
    """Lower ``t[i]`` with a computed index: items of one type, or numbers in their common type."""
    own = branches.promote_items(owner)
    found = _one_of(context, own, index, node)
    if {type_of(item) for item in owner.items} != {type_of(item) for item in own.items}:
        context.record_join(node, scalar_type(require_value(found)))
    return found


def _one_of(context: FunctionContext, owner: TupleValue, index: Expr, node: ast.Subscript) -> Value:
    kinds = {type_of(item) for item in owner.items}
    span = context.span(node)
    if len(kinds) > 1 or not owner.items:
        listed = ", ".join(map(str, (type_of(item) for item in owner.items)))
        fail(
            "constant-needed",
            Label(context.span(node.slice), f"an index into ({listed})"),
            hint="a computed index is of numbers, or of tuples of the same types, equally long",
        )
    found = constant_tables.lookup_in_row(owner.items, index, span) or constant_tables.lookup_item(
        context, owner, index, node, span
    )
    if found is not None:
        return found
    count = integer(len(owner.items), span)
    place = Apply(index_from_end, (require_integer(index), count), WEAK_INT, index.span)
    selector = assign_temporary(context, place, "at")
    found = branches.merge_values(selector, owner.items, span)
    if found is None:
        fail(
            "constant-needed",
            Label(context.span(node.slice), "an index into values that are no numbers"),
            hint="write a literal",
        )
    return found


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
        hint="write a literal; a computed index needs items of one type, a global numpy array, "
        "or cuda.local.array",
    )


def _key(
    context: FunctionContext, array: ArrayValue, key: StaticObject, node: ast.Subscript
) -> Value:
    """Lower ``a['x']``."""
    found = array_views.field_view(
        array_views.whole_view(array, key.span), str(key.value), context.span(node)
    )
    if found is None:
        _no_field(array, str(key.value), key.span)
    return found


def _no_field(array: ArrayValue, name: str, span: Span) -> NoReturn:
    kind = array_views.array_type(array)
    names = [f.name for f in kind.dtype.fields]
    fail(
        "name",
        Label(span, f"`{kind}` has no field `{name}`"),
        hint=did_you_mean(name, names, f"its fields are {', '.join(names)}")
        if names
        else "index it with integers: a[i]",
    )


# ---- attributes --------------------------------------------------------------------------------


def attribute(context: FunctionContext, node: ast.Attribute) -> Value:
    """Lower ``owner.name``."""
    if node.attr in ("name", "value"):
        member = enum_members.member_named(context, node.value)
        if member is not None:
            return name_resolution.attribute(
                context, StaticObject(member, context.span(node)), node.attr, node
            )
    return _read(context, _attribute_of(context, context.value(node.value), node))


def _attribute_of(context: FunctionContext, owner: Value, node: ast.Attribute) -> Value:
    if isinstance(owner, ArraySelect):
        return branches.for_each_array(
            context, owner, lambda array: _array_attribute(context, array, node)
        )
    if isinstance(owner, StaticObject):
        return name_resolution.attribute(context, owner, node.attr, node)
    if isinstance(owner, TupleValue) and node.attr in owner.names:
        return owner.items[owner.names.index(node.attr)]
    if is_array(owner):
        return _array_attribute(context, owner, node)
    if is_vector(owner):
        return vectors.component(require_value(owner), node.attr, context.span(node))
    is_tuple = isinstance(owner, (TupleValue, Closure))
    if node.attr in ("real", "imag") and isinstance(getattr(owner, "type", None), Scalar):
        return real_or_imag(require_number(owner), node.attr, context.span(node))
    if node.attr == "dtype" and is_number(owner) and not scalar_type(owner).weak:
        return StaticObject(Scalar(scalar_type(owner).dtype), context.span(node))
    kind = describe(owner) if is_tuple else f"a {describe(owner)}"
    if isinstance(owner, TupleValue) and hasattr([], node.attr) and not hasattr((), node.attr):
        kind = "a list"
    hint = "attributes are those of modules, of arrays, records and named tuples"
    if isinstance(owner, TupleValue) and owner.names:
        hint = did_you_mean(node.attr, owner.names, f"its fields are {', '.join(owner.names)}")
    fail(
        "subset",
        Label(context.span(node), f"{kind} has no attribute `{node.attr}` in a kernel"),
        hint=hints.instead_of_attribute(node.attr, hint),
    )


def real_or_imag(value: Expr, name: str, span: Span) -> Expr:
    """Lower ``z.real`` and ``z.imag``; also of real numbers."""
    own = scalar_type(value)
    if own.dtype.is_complex:
        kind = Scalar(own.dtype.real, own.weak)
        if isinstance(value, Pack):
            return value.parts[name == "imag"]
        return Member(value, "x" if name == "real" else "y", kind, span)
    return value if name == "real" else const(0, span, own)


def _array_attribute(context: FunctionContext, array: ArrayValue, node: ast.Attribute) -> Value:
    span, kind = context.span(node), array_views.array_type(array)
    found = array_views.field_view(array_views.whole_view(array, span), node.attr, span)
    if found is not None:
        return found
    axes: list[Expr] = [array_views.length(array, axis, span) for axis in range(kind.ndim)]
    match node.attr:
        case "shape":
            return TupleValue(tuple(axes), span)
        case "size":
            return arithmetic.product(context, axes, span)
        case "ndim":
            return integer(kind.ndim, span)
        case "strides":
            return TupleValue(_strides(context, array, span), span)
        case "dtype":
            return StaticObject(Scalar(kind.dtype), span)
        case "T":
            return array_views.transposed(array, span)
        case "real" | "imag" if kind.dtype.is_complex:
            return array_views.complex_part(array, node.attr, span)
        case "real" if not kind.dtype.has_fields:
            return array
        case _ if array_views.is_record(array):
            _no_field(array, node.attr, span)
        case _:
            fail(
                "subset",
                Label(span, f"an array has no `.{node.attr}` in a kernel"),
                hint=hints.instead_of_attribute(node.attr, _OF_ARRAYS),
            )


_OF_ARRAYS = (
    "arrays have .shape .size .ndim .strides .dtype .T .reshape() .ravel() and elements a[i]; "
    "do other work on them before or after the launch"
)


def _strides(context: FunctionContext, array: ArrayValue, span: Span) -> tuple[Expr, ...]:
    """Return the strides in bytes, as NumPy does."""
    view = array_views.whole_view(array, span)
    size = integer(array_views.array_type(view.array).dtype.size, span)
    out = []
    for axis, step in zip(view.axes, view.steps):
        factors: list[Expr] = [step, size]
        if axis < 0:
            apart = stride_inside_field(view, axis) * view.type.dtype.size
            factors = [step, integer(apart, span)]
        elif not array_views.has_linear_index(view):
            factors.insert(0, Stride(view.array, axis, span))
        out.append(arithmetic.product(context, factors, span))
    return tuple(out)
