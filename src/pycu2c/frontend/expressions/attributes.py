"""Attributes of arrays, records, numbers, named tuples and modules: ``a.shape``, ``p.x``."""

from __future__ import annotations

import ast
from enum import Enum
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Scalar
from pycu2c.frontend import hints
from pycu2c.frontend.expressions import arithmetic, array_views, vectors
from pycu2c.frontend.expressions.array_views import ArrayValue
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.scope.bindings import named_object
from pycu2c.frontend.statements import branches
from pycu2c.frontend.value_checks import (
    describe,
    is_array,
    is_vector,
    require_number,
    require_value,
)
from pycu2c.frontend.values import ArraySelect, Closure, StaticObject, TupleValue, Value
from pycu2c.ir.builders import const, integer, scalar_type
from pycu2c.ir.nodes import Expr, Member, Pack, Stride
from pycu2c.ir.views import stride_inside_field


def attribute(context: FunctionContext, node: ast.Attribute) -> Value:
    """Lower ``owner.name``."""
    if node.attr in ("name", "value"):
        # members of an IntEnum become numbers as values
        member = named_object(context.source, node.value, context.is_local)
        if isinstance(member, Enum):
            owner = StaticObject(member, context.span(node))
            return name_resolution.attribute(context, owner, node.attr, node)
    return load_elements(context, attribute_view(context, context.value(node.value), node))


def load_elements(context: FunctionContext, value: Value) -> Value:
    """Load an element from its view; other values are returned as they are."""
    if isinstance(value, ArraySelect) and not value.type.ndim:
        return branches.for_each_array(context, value, array_views.load_if_element)
    return array_views.load_if_element(value)


def attribute_view(context: FunctionContext, owner: Value, node: ast.Attribute) -> Value:
    """Return an attribute; an element stays a view without axes."""
    if isinstance(owner, ArraySelect) or is_array(owner):
        return branches.for_each_array(context, owner, lambda a: _array_attribute(context, a, node))
    if isinstance(owner, StaticObject):
        return name_resolution.attribute(context, owner, node.attr, node)
    if isinstance(owner, TupleValue) and node.attr in owner.names:
        return owner.items[owner.names.index(node.attr)]
    owner_type = getattr(owner, "type", None)
    if node.attr == "dtype" and isinstance(owner_type, Scalar) and not owner_type.weak:
        return StaticObject(Scalar(owner_type.dtype), context.span(node))
    if is_vector(owner):
        return vectors.component(require_value(owner), node.attr, context.span(node))
    is_composite = isinstance(owner, (TupleValue, Closure))
    if node.attr in ("real", "imag") and isinstance(owner_type, Scalar):
        return real_or_imag(require_number(owner), node.attr, context.span(node))
    owner_text = describe(owner) if is_composite else f"a {describe(owner)}"
    if isinstance(owner, TupleValue) and hasattr([], node.attr) and not hasattr((), node.attr):
        owner_text = "a list"
    hint = "attributes are those of modules, of arrays, records and named tuples"
    if isinstance(owner, TupleValue) and owner.names:
        hint = did_you_mean(node.attr, owner.names, f"its fields are {', '.join(owner.names)}")
    fail(
        "subset",
        Label(context.span(node), f"{owner_text} has no attribute `{node.attr}` in a kernel"),
        hint=hints.instead_of_attribute(node.attr, hint),
    )


def real_or_imag(value: Expr, name: str, span: Span) -> Expr:
    """Lower ``z.real`` and ``z.imag`` of a complex or real number."""
    number_type = scalar_type(value)
    if not number_type.dtype.is_complex:
        return value if name == "real" else const(0, span, number_type)
    if isinstance(value, Pack):
        return value.parts[name == "imag"]
    part_type = Scalar(number_type.dtype.real, number_type.weak)
    return Member(value, "x" if name == "real" else "y", part_type, span)


def _array_attribute(context: FunctionContext, array: ArrayValue, node: ast.Attribute) -> Value:
    span, owner_type = context.span(node), array_views.array_type(array)
    field = array_views.field_view(array_views.whole_view(array, span), node.attr, span)
    if field is not None:
        return field
    lengths: list[Expr] = [array_views.length(array, axis, span) for axis in range(owner_type.ndim)]
    match node.attr:
        case "shape":
            return TupleValue(tuple(lengths), span)
        case "size":
            return arithmetic.product(context, lengths, span)
        case "ndim":
            return integer(owner_type.ndim, span)
        case "strides":
            return TupleValue(_strides(context, array, span), span)
        case "dtype":
            return StaticObject(Scalar(owner_type.dtype), span)
        case "T":
            return array_views.transposed(array, span)
        case "real" | "imag" if owner_type.dtype.is_complex:
            component = "x" if node.attr == "real" else "y"
            return array_views.view_of_field(array_views.whole_view(array, span), component, span)
        case "real" if not owner_type.dtype.has_fields:
            return array
        case _ if array_views.is_record(array):
            report_no_field(array, node.attr, span)
        case _:
            fail(
                "subset",
                Label(span, f"an array has no `.{node.attr}` in a kernel"),
                hint=hints.instead_of_attribute(node.attr, _ARRAY_ATTRIBUTES),
            )


_ARRAY_ATTRIBUTES = (
    "arrays have .shape .size .ndim .strides .dtype .T .reshape() .view() .sum() .max() and "
    "elements a[i]; "
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
            stride = stride_inside_field(view, axis) * view.type.dtype.size
            factors = [step, integer(stride, span)]
        elif not array_views.has_linear_index(view):
            factors.insert(0, Stride(view.array, axis, span))
        out.append(arithmetic.product(context, factors, span))
    return tuple(out)


def report_no_field(array: ArrayValue, name: str, span: Span) -> NoReturn:
    record_type = array_views.array_type(array)
    names = [f.name for f in record_type.dtype.fields]
    fail(
        "name",
        Label(span, f"`{record_type}` has no field `{name}`"),
        hint=did_you_mean(name, names, f"its fields are {', '.join(names)}")
        if names
        else "index it with integers: a[i]",
    )
