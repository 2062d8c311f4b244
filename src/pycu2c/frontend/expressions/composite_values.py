"""Composite values: their types, their leaves (numbers and arrays), and their reconstruction.

A tuple exists only at compile time; functions pass and return its leaves. ``values.leaves``
decomposes a value, and ``value_of_type`` rebuilds it from its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.source import Span
from pycu2c.base.types import (
    VOID,
    Array,
    Constant,
    ParameterType,
    Scalar,
    Tuple,
    Type,
    Void,
    have_common_type,
    leaf_types,
    promote,
)
from pycu2c.frontend.value_checks import report_no_value
from pycu2c.frontend.values import (
    ArraySelect,
    Closure,
    LocalFunction,
    StaticObject,
    TupleValue,
    Value,
    array_select,
    leaves,
)
from pycu2c.ir import builders
from pycu2c.ir.nodes import Expr, Member, Pack

LeafBuilder: TypeAlias = Callable[[str, "Scalar | Array"], Expr]


# the item names in the type of a local function
_CLOSURE_FIELDS = ("<function>", "<defaults>", "<variables>")
SELECTOR = "<which>"  # the first item name in the type of an array selection


def type_of(value: Value) -> ParameterType:
    """Return the type of a value as an argument."""
    match value:
        case StaticObject():
            return Constant(value.value)
        case Closure():
            operands = (type_of(value.defaults), type_of(value.variables))
            return Tuple((Constant(value.function), *operands), _CLOSURE_FIELDS)
        case ArraySelect():
            item_types = tuple(type_of(item) for item in value.operands.items)
            return Tuple(item_types, (SELECTOR, *(f"<{i}>" for i in range(len(value.arrays)))))
        case TupleValue():
            return Tuple(tuple(type_of(item) for item in value.items), value.names)
        case _ if isinstance(value.type, Void):
            report_no_value(value.span)
        case _:
            return value.type


def displayed_type(value_type: ParameterType) -> ParameterType:
    """Return a type as errors show it: a local function by its name."""
    if not isinstance(value_type, Tuple):
        return value_type
    if value_type.names == _CLOSURE_FIELDS:
        return value_type.items[0]
    return Tuple(tuple(map(displayed_type, value_type.items)), value_type.names)


def value_of_type(name: str, value_type: ParameterType, span: Span, leaf: LeafBuilder) -> Value:
    """Build a value of a type from leaves made by name: ``t``, ``t.0.item``."""
    match value_type:
        case Tuple(items, names):
            item_names = names or tuple(map(str, range(len(items))))
            variables = [item_variable(name, label) for label in item_names]
            values = [value_of_type(v, item, span, leaf) for v, item in zip(variables, items)]
            return _assemble(values, names, span)
        case Constant(value=int() as number):
            return builders.literal(number, span)
        case Constant(value=value):
            return StaticObject(value, span)
        case _:
            return leaf(name, value_type)


def item_variable(name: str, item: str) -> str:
    """Return the name of the variable of a tuple's item."""
    return f"{name}.{item}.item"


def item_variable_at(name: str, value: TupleValue, position: int) -> str:
    return item_variable(name, value.names[position] if value.names else str(position))


def _assemble(items: list[Value], names: tuple[str, ...], span: Span) -> Value:
    if names == _CLOSURE_FIELDS:
        function, defaults, variables = items
        assert isinstance(function, StaticObject)
        assert isinstance(function.value, LocalFunction)
        assert isinstance(defaults, TupleValue)
        assert isinstance(variables, TupleValue)
        return Closure(function.value, defaults, variables, span)
    if names[:1] == (SELECTOR,):
        return array_select(items, span)
    return TupleValue(tuple(items), span, names)


def unify_types(a: ParameterType, b: ParameterType) -> ParameterType | None:
    """Return the common type of two values, or None."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return promote(a, b) if have_common_type(a, b) else None
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items = [unify_types(x, y) for x, y in zip(a.items, b.items)]
        common = [item for item in items if item is not None]
        return Tuple(tuple(common), a.names or b.names) if len(common) == len(items) else None
    return a if a == b else None


# ---- results -----------------------------------------------------------------------------------


def result_type(value_type: ParameterType) -> Type:
    """Return the IR result type for a value of this type: of several numbers, a record."""
    number_types = [leaf for leaf in leaf_types(value_type) if isinstance(leaf, Scalar)]
    if len(number_types) < 2:
        return number_types[0] if number_types else VOID
    fields = [(f"item{i}", t.dtype) for i, t in enumerate(number_types)]
    return Scalar(dtypes.aligned_record(fields))


def pack_result(numbers: list[Expr], packed_type: Type, span: Span) -> Expr | None:
    """Pack the leaves of a result into the one value that a function returns."""
    if isinstance(packed_type, Scalar) and packed_type.dtype.kind is DTypeKind.RECORD:
        return Pack(tuple(numbers), packed_type, span)
    return numbers[0] if numbers else None


def unpack_result(value: Expr, value_type: ParameterType, span: Span) -> Value:
    """Rebuild a value from an evaluated function result."""
    number_types = [leaf for leaf in leaf_types(value_type) if isinstance(leaf, Scalar)]
    numbers = iter([value])
    if isinstance(value.type, Scalar) and value.type.dtype.kind is DTypeKind.RECORD:
        numbers = (
            Member(value, f"item{i}", number_type, span)
            for i, number_type in enumerate(number_types)
        )
    return value_of_type("result", value_type, span, lambda _name, _type: next(numbers))


def reject_arrays(value: Value) -> None:
    """Report arrays in a returned value."""
    for leaf in leaves(value):
        if isinstance(leaf.type, Array):
            fail(
                "return-type",
                Label(leaf.span, f"this is an array `{leaf.type}`"),
                hint="pass the array to the function, and let it write there",
            )
