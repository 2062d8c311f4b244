"""Composite values: their types, their leaves (numbers and arrays), and their reconstruction.

A tuple exists only at compile time; functions pass and return its leaves. ``values.leaves``
decomposes a value, and ``value_of_type`` rebuilds it from its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DType, DTypeKind
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

Leaf: TypeAlias = Callable[[str, "Scalar | Array"], Expr]


# the item names in the type of a local function
_CLOSURE = ("<function>", "<defaults>", "<variables>")
SELECTOR = "<which>"  # the first item name in the type of an array selection


def type_of(value: Value) -> ParameterType:
    """Return the type of a value as an argument."""
    match value:
        case StaticObject():
            return Constant(value.value)
        case Closure():
            operands = (type_of(value.defaults), type_of(value.variables))
            return Tuple((Constant(value.function), *operands), _CLOSURE)
        case ArraySelect():
            parts = tuple(type_of(item) for item in value.operands.items)
            return Tuple(parts, (SELECTOR, *(f"<{i}>" for i in range(len(value.arrays)))))
        case TupleValue():
            return Tuple(tuple(type_of(item) for item in value.items), value.names)
        case _ if isinstance(value.type, Void):
            report_no_value(value.span)
        case _:
            return value.type


def displayed_type(kind: ParameterType) -> ParameterType:
    """Return a type as errors show it: a local function by its name."""
    if not isinstance(kind, Tuple):
        return kind
    if kind.names == _CLOSURE:
        return kind.items[0]
    return Tuple(tuple(map(displayed_type, kind.items)), kind.names)


def value_of_type(name: str, kind: ParameterType, span: Span, leaf: Leaf) -> Value:
    """Build a value of a type from leaves made by name: ``t``, ``t.0.item``."""
    match kind:
        case Tuple(items, names):
            labels = names or tuple(map(str, range(len(items))))
            variables = [item_variable(name, label) for label in labels]
            parts = [value_of_type(v, item, span, leaf) for v, item in zip(variables, items)]
            return _assembled(parts, names, span)
        case Constant(value=int() as integer):
            return builders.integer(integer, span)
        case Constant(value=value):
            return StaticObject(value, span)
        case _:
            return leaf(name, kind)


def item_variable(name: str, part: str) -> str:
    """Return the name of the variable of a tuple's item."""
    return f"{name}.{part}.item"


def item_variable_at(name: str, value: TupleValue, position: int) -> str:
    return item_variable(name, value.names[position] if value.names else str(position))


def _assembled(parts: list[Value], names: tuple[str, ...], span: Span) -> Value:
    if names == _CLOSURE:
        function, defaults, variables = parts
        assert isinstance(function, StaticObject)
        assert isinstance(function.value, LocalFunction)
        assert isinstance(defaults, TupleValue)
        assert isinstance(variables, TupleValue)
        return Closure(function.value, defaults, variables, span)
    if names[:1] == (SELECTOR,):
        return array_select(parts, span)
    return TupleValue(tuple(parts), span, names)


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


def result_record(kinds: list[Scalar]) -> DType:
    """Return the record in which a function returns its numbers."""
    return dtypes.aligned_record([(f"item{i}", kind.dtype) for i, kind in enumerate(kinds)])


def result_type(kind: ParameterType) -> Type:
    """Return the IR result type for a value of this type."""
    numbers = [leaf for leaf in leaf_types(kind) if isinstance(leaf, Scalar)]
    if len(numbers) < 2:
        return numbers[0] if numbers else VOID
    return Scalar(result_record(numbers))


def pack_result(parts: list[Expr], kind: Type, span: Span) -> Expr | None:
    """Pack the leaves of a result into the one value that a function returns."""
    if isinstance(kind, Scalar) and kind.dtype.kind is DTypeKind.RECORD:
        return Pack(tuple(parts), kind, span)
    return parts[0] if parts else None


def unpack_result(value: Expr, kind: ParameterType, span: Span) -> Value:
    """Rebuild a value from an evaluated function result."""
    numbers = [leaf for leaf in leaf_types(kind) if isinstance(leaf, Scalar)]
    parts = iter([value])
    if isinstance(value.type, Scalar) and value.type.dtype.kind is DTypeKind.RECORD:
        parts = (Member(value, f"item{i}", number, span) for i, number in enumerate(numbers))
    return value_of_type("result", kind, span, lambda name, kind: next(parts))


def reject_arrays(value: Value) -> None:
    """Report arrays in a returned value."""
    for leaf in leaves(value):
        if isinstance(leaf.type, Array):
            fail(
                "return-type",
                Label(leaf.span, f"this is an array `{leaf.type}`"),
                hint="pass the array to the function, and let it write there",
            )
