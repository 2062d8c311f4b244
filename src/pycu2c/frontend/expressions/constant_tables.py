"""Tuples of constants with a computed index: lookup tables in constant memory.

Two numbers become a select; three or more become a table.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pycu2c.base import dtypes
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.base.values import fits
from pycu2c.frontend.evaluation_order import assign_temporary
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.name_resolution import check_constant_bytes
from pycu2c.frontend.values import TupleValue, Value, leaves
from pycu2c.ir.builders import cast, const, integer, is_atom, scalar_type
from pycu2c.ir.nodes import Cast, Const, ConstantArray, Expr, Load, Var

_MIN_TABLE_LENGTH = 3  # numbers for which a table pays off


def lookup_item(
    context: FunctionContext, items: TupleValue, index: Expr, node: ast.Subscript, span: Span
) -> Value | None:
    """Return ``t[index]`` of constants of one type, or of equally long tuples of them.

    The result is None for other items, or if they are too few for a table.
    """
    shape = _shape(items)
    if shape is None or not is_table(items):
        return None
    constants = _leaves(items)
    table = _table(context, constants, shape, _table_name(node), span)
    if len(shape) == 1:
        return _element(table, (index,), scalar_type(constants[0]), span)
    row = index if is_atom(index) else assign_temporary(context, require_integer(index), "row")
    return _row(table, (row,), items, scalar_type(constants[0]), span)


def is_table(value: Value) -> bool:
    """Return whether a value is a tuple of constants that a computed index reads from a table."""
    if not isinstance(value, TupleValue) or _shape(value) is None:
        return False
    constants = _leaves(value)
    if len(constants) < _MIN_TABLE_LENGTH or len({e.type for e in constants}) > 1:
        return False
    return constants[0].type != WEAK_INT or all(fits(int(e.value), WEAK_INT) for e in constants)


def lookup_in_row(items: Sequence[Value], index: Expr, span: Span) -> Expr | None:
    """Return ``t[i][index]`` if ``t[i]`` is a row of a table; None for other items."""
    first_item, loads = items[0], [_table_load(item) for item in items]
    first_load = loads[0]
    if first_load is None or len(items) < _MIN_TABLE_LENGTH:
        return None
    assert isinstance(first_item, (Load, Cast))
    *outer_indices, _ = first_load.indices
    for position, load in enumerate(loads):
        if load is None or load.array.name != first_load.array.name:
            return None
        *other_outer_indices, last = load.indices
        is_next = isinstance(last, Const) and last.value == position
        if other_outer_indices != outer_indices or not is_next:
            return None
    table_type = first_load.array.type
    is_whole_row = (
        isinstance(table_type, Array) and table_type.shape and table_type.shape[-1] == len(items)
    )
    if not is_whole_row or not isinstance(first_load.array, Var):
        return None
    return _element(first_load.array, (*outer_indices, index), scalar_type(first_item), span)


def _table_load(item: Value) -> Load | None:
    operand = item.operand if isinstance(item, Cast) else item
    return operand if isinstance(operand, Load) else None


def _shape(items: TupleValue) -> tuple[int, ...] | None:
    """Return the lengths of nested tuples, or None if they are not rectangular."""
    if all(isinstance(item, Const) for item in items.items):
        return (len(items.items),)
    inner = {_shape(item) if isinstance(item, TupleValue) else None for item in items.items}
    shape = inner.pop() if len(inner) == 1 else None
    return None if shape is None else (len(items.items), *shape)


def _leaves(items: TupleValue) -> list[Const]:
    return [leaf for leaf in leaves(items) if isinstance(leaf, Const)]


def _table_name(node: ast.expr) -> str:
    """Return the name for a table."""
    match node:
        case ast.Subscript(value=owner):
            return _table_name(owner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return "items"


def _table(
    context: FunctionContext, items: Sequence[Const], shape: tuple[int, ...], name: str, span: Span
) -> Var:
    """Return the constant array of these numbers, shared by equal tables."""
    number_type = scalar_type(items[0])
    key = (name, shape, number_type, *(repr(item.value) for item in items))
    if key not in context.constants:
        element = Scalar(_element_type(number_type, items))
        check_constant_bytes(len(items) * element.dtype.size, span)
        var = Var(
            context.constant_name(name),
            Array(element.dtype, len(shape), "C", MemorySpace.CONSTANT, shape),
            span,
        )
        values = tuple(const(item.value, item.span, element) for item in items)
        context.constants[key] = ConstantArray(var, values, number_type.weak)
    table = context.constants[key].var
    return Var(table.name, table.type, span)


def _element_type(number_type: Scalar, items: Sequence[Const]) -> dtypes.DType:
    """Return the element type in memory: int32 for Python ints that all fit."""
    int32 = dtypes.INT32
    if number_type == WEAK_INT and all(
        int32.minimum <= item.value <= int32.maximum for item in items
    ):
        return int32
    return number_type.dtype


def _row(
    table: Var, outer: tuple[Expr, ...], items: TupleValue, number_type: Scalar, span: Span
) -> TupleValue:
    """Return ``t[i]`` of a table with more than one axis, as a tuple of its elements."""
    inner = items.items[0]
    assert isinstance(inner, TupleValue)
    elements: list[Value] = []
    for position, item in enumerate(inner.items):
        indices = (*outer, integer(position, span))
        if isinstance(item, TupleValue):
            elements.append(_row(table, indices, inner, number_type, span))
        else:
            elements.append(_element(table, indices, number_type, span))
    return TupleValue(tuple(elements), span, inner.names)


def _element(table: Var, indices: tuple[Expr, ...], number_type: Scalar, span: Span) -> Expr:
    return cast(array_views.subscript_value(table, list(indices), span), number_type)
