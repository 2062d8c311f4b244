"""Subscripts and attributes as syntax: ``a[i, 1:n]``, ``t[0]``, ``a.shape``, ``p.x``."""

from __future__ import annotations

import ast
from enum import EnumMeta
from typing import NoReturn, TypeVar

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import WEAK_INT, Scalar, Space
from pycu2c.frontend.evaluation_order import settled, variable_of
from pycu2c.frontend.expressions import (
    arithmetic,
    array_views,
    comprehensions,
    constant_tables,
    enum_members,
    vectors,
)
from pycu2c.frontend.expressions.arithmetic import whole_number
from pycu2c.frontend.expressions.array_views import ArrayValue, Part, Rest, Subscript
from pycu2c.frontend.expressions.composite_values import type_of
from pycu2c.frontend.expressions.subscript_syntax import after_owner, indices_in, kept_index
from pycu2c.frontend.function_context import (
    Chosen,
    Closure,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    is_number,
    is_vector,
    number,
    shown,
    single,
)
from pycu2c.frontend.hints import replacements
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements import branches
from pycu2c.ir.builders import const, integer, scalar_type
from pycu2c.ir.nodes import Apply, Const, Expr, Member, Pack, Stride, View
from pycu2c.ir.views import step_inside
from pycu2c.ops.intrinsics.memory.subscripts import index_from_end


def subscript(frame: Frame, node: ast.Subscript) -> Value:
    """``owner[index]``: an item, a slice of a tuple, an element, a view, a field."""
    return _read(frame, _subscript_of(frame, frame.value(node.value), node))


def _subscript_of(frame: Frame, owner: Value, node: ast.Subscript) -> Value:
    """An element is a place here: a view without axes."""
    if isinstance(owner, Static) and isinstance(owner.value, range):
        owner = Items(comprehensions.static_items(owner), owner.span)
    if isinstance(owner, Static) and isinstance(owner.value, EnumMeta):
        named = ast.Attribute(node.value, vectors.key_of(frame, node), ast.Load())
        return name_resolution.attribute(frame, owner, named.attr, ast.copy_location(named, node))
    if isinstance(owner, Items):
        items = settled(frame, owner)
        assert isinstance(items, Items)
        return _item(frame, items, node)
    if is_vector(owner):
        return vectors.component(single(owner), vectors.key_of(frame, node), frame.span(node))
    owner, given = after_owner(frame, owner, node.slice)
    if isinstance(owner, Chosen):
        once = [kept_index(frame, item) for item in given]
        return branches.each(frame, owner, lambda array: _subscripted(frame, array, once, node))
    array = array_value(frame, owner, node.value)
    return _subscripted(frame, array, given, node)


def _subscripted(
    frame: Frame, array: ArrayValue, given: list[Subscript | Static], node: ast.Subscript
) -> Value:
    if len(given) == 1 and isinstance(given[0], Static):
        return _key(frame, array, given[0], node)
    if array_views.is_record(array) and not array_views.array_type(array).ndim:
        return _by_position(array, indices_in(given), frame.span(node))
    return array_views.part(array, indices_in(given), frame.span(node))


def _by_position(record: ArrayValue, given: list[Subscript], span: Span) -> View:
    """``r[0]``: a field by its number."""
    fields = array_views.array_type(record).dtype.fields
    (index,) = given if len(given) == 1 else (None,)
    if not isinstance(index, Const) or not index.type.dtype.is_whole:
        array_views.wrong_count(array_views.array_type(record), len(given), span)
    if not -len(fields) <= index.value < len(fields):
        text = f"the record has {replacements.amount(len(fields), 'field', 'fields')}"
        fail("index-range", Label(index.span, text), help=replacements.indices_of(len(fields)))
    found = array_views.field_place(
        array_views.whole(record, span), fields[int(index.value)].name, span
    )
    assert found is not None
    return found


def item_of(frame: Frame, array: Value, index: Expr, span: Span) -> Value:
    """``array[index]``: an element, or a view of a row."""
    if isinstance(array, Chosen):
        return branches.each(
            frame, array, lambda known: array_views.subscripted(known, [index], span)
        )
    assert is_array(array)
    return array_views.subscripted(array, [index], span)


def place(frame: Frame, node: ast.Subscript) -> View | Chosen:
    """What ``a[i, j]``, ``a[i, 1:]`` or ``a[i]['x']`` names: where to store. A place with axes is
    several elements."""
    owner, given = after_owner(frame, owner_place(frame, node.value), node.slice)
    span = frame.span(node)
    if not isinstance(owner, Chosen):
        return _place_in(frame, array_value(frame, owner, node.value), given, span)
    once = [kept_index(frame, item) for item in given]
    found = branches.each(frame, owner, lambda array: _place_in(frame, array, once, span))
    assert isinstance(found, Chosen)
    return found


def _place_in(frame: Frame, array: ArrayValue, given: list[Subscript | Static], span: Span) -> View:
    if len(given) == 1 and isinstance(given[0], Static):
        return field_place(frame, array, str(given[0].value), span)
    if array_views.is_record(array) and not array_views.array_type(array).ndim:
        return _by_position(array, indices_in(given), span)
    return array_views.part(array, indices_in(given), span)


def owner_place(frame: Frame, node: ast.expr) -> ArrayValue | Chosen:
    """The array, record or vector in memory that a target is a part of."""
    value = _place(frame, node)
    if isinstance(value, (View, Chosen)) and not value.type.dtype.has_fields:
        value = _read(frame, value)
    return value if isinstance(value, Chosen) else array_value(frame, value, node)


def _read(frame: Frame, value: Value) -> Value:
    """A place as the value there is."""
    if isinstance(value, Chosen) and not value.type.ndim:
        return branches.each(frame, value, array_views.read)
    return array_views.read(value)


def _place(frame: Frame, node: ast.expr) -> Value:
    match node:
        case ast.Subscript(value=owner):
            return _subscript_of(frame, _place(frame, owner), node)
        case ast.Attribute(value=owner):
            return _attribute_of(frame, _place(frame, owner), node)
        case _:
            return frame.value(node)


def element(array: ArrayValue, given: list[Subscript], span: Span) -> View:
    """The one element that indices name; an error for a part of an array."""
    kind = array_views.array_type(array)
    if any(isinstance(item, (Part, Rest)) for item in given):
        fail(
            "index-count",
            Label(span, f"this is several elements of `{kind}`"),
            help="one element is meant: a[i]",
        )
    if len(given) != kind.ndim:
        array_views.wrong_count(kind, len(given), span)
    return array_views.part(array, given, span)


Target = TypeVar("Target", bound=View | Chosen)


def writable(place: Target, span: Span) -> Target:
    """A place that is written: not in an array that the kernel reads as a constant."""
    options = place.options if isinstance(place, Chosen) else (place,)
    arrays = (array_views.whole(option, span).array for option in options)
    if any(array_views.array_type(array).space is Space.CONSTANT for array in arrays):
        fail(
            "assignment-target",
            Label(span, "an array from outside of the kernel is a constant"),
            help="pass the array as an argument of the kernel",
        )
    return place


def field_place(frame: Frame, array: ArrayValue, name: str, span: Span) -> View:
    """The field of one record: where to store."""
    view = array_views.whole(array, span)
    if not view.type.dtype.has_fields:
        _no_record(view, name, span)
    if view.axes:
        fail(
            "type-needed",
            Label(span, f"`{view.type}` is an array"),
            help=f"set the field of one: a[i].{name} = …",
        )
    found = array_views.field_place(view, name, span)
    if found is None:
        _no_field(view, name, span)
    return found


def array_value(frame: Frame, value: Value, node: ast.expr) -> ArrayValue:
    """A value that must be an array."""
    if is_array(value):
        return value
    if isinstance(value, Static):
        _not_an_array(frame, value, node)
    if is_vector(value):
        fail(
            "assignment-target",
            Label(frame.span(node), f"this `{single(value).type}` is in no variable"),
            help="give it a name, and assign the component of that: v = …, v.x = …",
        )
    if isinstance(value, Items):
        fail(
            "assignment-target",
            Label(
                frame.span(node),
                f"a list or tuple of {len(value.items)}, whose items cannot be assigned",
            ),
            help="keep numbers that change in variables, or in cuda.local.array(n, dtype)",
        )
    fail(
        "type-needed",
        Label(frame.span(node), f"this is {shown(value)}, not an array"),
        help="only arrays and tuples have elements",
    )


def _not_an_array(frame: Frame, value: Static, node: ast.expr) -> NoReturn:
    here, cure = frame.span(node), replacements.instead_of_global(value.value)
    if not isinstance(value.value, (list, dict, set)):
        fail("type-needed", Label(here, f"this is {shown(value)}, not an array"), help=cure)
    kind = type(value.value).__name__
    fail("global-value", Label(here, f"this is a {kind}, from outside of the kernel"), help=cure)


def _no_record(array: ArrayValue, name: str, span: Span) -> NoReturn:
    """A field, or an attribute, of an array of numbers is assigned to."""
    text, cure = f"`{array.type}` has no field `{name}`", "set an element: a[i] = …"
    if name in ("shape", "strides", "dtype", "T", "size", "ndim"):
        text, cure = f"an array keeps its {name}", "change it before the launch"
    fail("assignment-target", Label(span, text), help=cure)


# ---- items of tuples, fields of records ---------------------------------------------------------


def _item(frame: Frame, owner: Items, node: ast.Subscript) -> Value:
    """An item of a tuple, or a slice of it."""
    if isinstance(node.slice, ast.Slice):
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        cut = slice(*(None if b is None else _constant(frame, b) for b in bounds))
        if cut.step == 0:
            fail(
                "constant-needed",
                Label(frame.span(node.slice), "the step of a slice is not 0"),
                help="write another step, or none",
            )
        return Items(owner.items[cut], frame.span(node))
    if owner.names and isinstance(node.slice, (ast.Constant, ast.Name)):
        key = frame.value(node.slice)  # a record's field
        if isinstance(key, Static) and isinstance(key.value, str) and key.value in owner.names:
            return owner.items[owner.names.index(key.value)]
    found = frame.value(node.slice)
    if isinstance(found, Items) and len(found.items) > 1:
        return _nested_item(frame, owner, found, node)
    return _chosen_item(frame, owner, found, node)


def _chosen_item(frame: Frame, owner: Items, found: Value, node: ast.Subscript) -> Value:
    if is_number(found) and not isinstance(found, Const):
        return _any_item(frame, owner, found, node)
    index = _known(found, frame.span(node.slice))
    count = len(owner.items)
    if index is None or not -count <= index < count:
        fail(
            "index-range",
            Label(frame.span(node.slice), _too_far(node.value, count)),
            help=replacements.indices_of(count),
        )
    return owner.items[index]


def _too_far(owner: ast.expr, count: int) -> str:
    """What an index is not in."""
    if isinstance(owner, ast.Attribute) and owner.attr in ("shape", "strides"):
        return f"`{ast.unparse(owner.value)}` has {replacements.amount(count, 'axis', 'axes')}"
    return f"the tuple has {replacements.amount(count, 'item', 'items')}"


def _nested_item(frame: Frame, owner: Items, index: Items, node: ast.Subscript) -> Value:
    """``r.m[1, 0]``: a field of several axes, of a record that is an argument, is tuples."""
    found: Value = owner
    for part in index.items:
        if not isinstance(found, Items):
            fail(
                "index-count",
                Label(frame.span(node), replacements.amount(len(index.items), "index", "indices")),
                help="write one for each axis",
            )
        found = _chosen_item(frame, found, part, node)
    return found


def _any_item(frame: Frame, owner: Items, index: Expr, node: ast.Subscript) -> Value:
    """``t[i]`` of a tuple whose items have one type, or are numbers: then that of all together."""
    own = branches.alike(owner)
    found = _one_of(frame, own, index, node)
    if {type_of(item) for item in owner.items} != {type_of(item) for item in own.items}:
        frame.note_join(node, scalar_type(single(found)))
    return found


def _one_of(frame: Frame, owner: Items, index: Expr, node: ast.Subscript) -> Value:
    kinds = {type_of(item) for item in owner.items}
    span = frame.span(node)
    if len(kinds) > 1 or not owner.items:
        listed = ", ".join(map(str, (type_of(item) for item in owner.items)))
        fail(
            "constant-needed",
            Label(frame.span(node.slice), f"an index into ({listed})"),
            help="a computed index is of numbers, or of tuples of the same types, equally long",
        )
    found = constant_tables.item_of_row(owner.items, index, span) or constant_tables.table_item(
        frame, owner, index, node, span
    )
    if found is not None:
        return found
    count = integer(len(owner.items), span)
    place = Apply(index_from_end, (whole_number(index), count), WEAK_INT, index.span)
    which = variable_of(frame, place, "at")
    found = branches.together(which, owner.items, span)
    if found is None:
        fail(
            "constant-needed",
            Label(frame.span(node.slice), "an index into values that are no numbers"),
            help="write a literal",
        )
    return found


def _constant(frame: Frame, node: ast.expr) -> int | None:
    return _known(frame.value(node), frame.span(node))


def _known(value: Value, span: Span) -> int | None:
    if isinstance(value, Static) and value.value is None:
        return None
    if isinstance(value, Const) and value.type.dtype.is_whole:
        return int(value.value)
    fail(
        "constant-needed",
        Label(span, "the index of a tuple"),
        help="write a literal; a computed index needs items of one type, a global numpy array, "
        "or cuda.local.array",
    )


def _key(frame: Frame, array: ArrayValue, key: Static, node: ast.Subscript) -> Value:
    """``a['x']``."""
    found = array_views.field_place(
        array_views.whole(array, key.span), str(key.value), frame.span(node)
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
        help=did_you_mean(name, names, f"its fields are {', '.join(names)}")
        if names
        else "index it with whole numbers: a[i]",
    )


# ---- attributes --------------------------------------------------------------------------------


def attribute(frame: Frame, node: ast.Attribute) -> Value:
    """``owner.name``."""
    if node.attr in ("name", "value"):
        member = enum_members.member_named(frame, node.value)
        if member is not None:
            return name_resolution.attribute(
                frame, Static(member, frame.span(node)), node.attr, node
            )
    return _read(frame, _attribute_of(frame, frame.value(node.value), node))


def _attribute_of(frame: Frame, owner: Value, node: ast.Attribute) -> Value:
    if isinstance(owner, Chosen):
        return branches.each(frame, owner, lambda array: _array_attribute(frame, array, node))
    if isinstance(owner, Static):
        return name_resolution.attribute(frame, owner, node.attr, node)
    if isinstance(owner, Items) and node.attr in owner.names:
        return owner.items[owner.names.index(node.attr)]
    if is_array(owner):
        return _array_attribute(frame, owner, node)
    if is_vector(owner):
        return vectors.component(single(owner), node.attr, frame.span(node))
    is_tuple = isinstance(owner, (Items, Closure))
    if node.attr in ("real", "imag") and isinstance(getattr(owner, "type", None), Scalar):
        return part_of(number(owner), node.attr, frame.span(node))
    if node.attr == "dtype" and is_number(owner) and not scalar_type(owner).weak:
        return Static(Scalar(scalar_type(owner).dtype), frame.span(node))
    kind = shown(owner) if is_tuple else f"a {shown(owner)}"
    if isinstance(owner, Items) and hasattr([], node.attr) and not hasattr((), node.attr):
        kind = "a list"
    cure = "attributes are those of modules, of arrays, records and named tuples"
    if isinstance(owner, Items) and owner.names:
        cure = did_you_mean(node.attr, owner.names, f"its fields are {', '.join(owner.names)}")
    fail(
        "subset",
        Label(frame.span(node), f"{kind} has no attribute `{node.attr}` in a kernel"),
        help=replacements.instead_of_attribute(node.attr, cure),
    )


def part_of(value: Expr, name: str, span: Span) -> Expr:
    """``z.real``, ``z.imag``; of a real number itself, and 0."""
    own = scalar_type(value)
    if own.dtype.is_complex:
        kind = Scalar(own.dtype.real, own.weak)
        if isinstance(value, Pack):
            return value.parts[name == "imag"]
        return Member(value, "x" if name == "real" else "y", kind, span)
    return value if name == "real" else const(0, span, own)


def _array_attribute(frame: Frame, array: ArrayValue, node: ast.Attribute) -> Value:
    span, kind = frame.span(node), array_views.array_type(array)
    found = array_views.field_place(array_views.whole(array, span), node.attr, span)
    if found is not None:
        return found
    axes: list[Expr] = [array_views.length(array, axis, span) for axis in range(kind.ndim)]
    match node.attr:
        case "shape":
            return Items(tuple(axes), span)
        case "size":
            return arithmetic.product(frame, axes, span)
        case "ndim":
            return integer(kind.ndim, span)
        case "strides":
            return Items(_strides(frame, array, span), span)
        case "dtype":
            return Static(Scalar(kind.dtype), span)
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
                help=replacements.instead_of_attribute(node.attr, _OF_ARRAYS),
            )


_OF_ARRAYS = (
    "arrays have .shape .size .ndim .strides .dtype .T .reshape() .ravel() and elements a[i]; "
    "do other work on them before or after the launch"
)


def _strides(frame: Frame, array: ArrayValue, span: Span) -> tuple[Expr, ...]:
    """In bytes, as numpy gives them."""
    view = array_views.whole(array, span)
    size = integer(array_views.array_type(view.array).dtype.size, span)
    out = []
    for axis, step in zip(view.axes, view.steps):
        factors: list[Expr] = [step, size]
        if axis < 0:
            apart = step_inside(view, axis) * view.type.dtype.size
            factors = [step, integer(apart, span)]
        elif not array_views.is_numbered(view):
            factors.insert(0, Stride(view.array, axis, span))
        out.append(arithmetic.product(frame, factors, span))
    return tuple(out)
