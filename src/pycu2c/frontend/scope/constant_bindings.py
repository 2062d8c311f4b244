"""Assign to the targets of an unrolled iteration or a ``case``, so that constants stay constants.

In ``for k in (0, 1): t[k]`` the index is a literal, and ``if k == 1`` is decided at compile
time.
"""

from __future__ import annotations

import ast

from pycu2c.base.source import Span
from pycu2c.frontend.expressions.composite_values import item_variable_at
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.variables import bind, read_variable, set_value
from pycu2c.frontend.statements.assignments import assign_to
from pycu2c.frontend.values import TupleValue, Value, leaves
from pycu2c.ir.nodes import Const


def assign_constants(context: FunctionContext, target: ast.expr, value: Value) -> None:
    """Assign a value to a target part by part: no item may read an earlier part."""
    if isinstance(target, ast.Name):
        assign_name(context, target, value)
        return
    pairs = matching_pairs(target, value)
    if pairs is None:
        assign_to(context, target, value)
        return
    for inner, item in pairs:
        assign_constants(context, inner, item)


def matching_pairs(target: ast.expr, value: Value) -> list[tuple[ast.expr, Value]] | None:
    """Return pairs of targets and items if their counts match, else None."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, TupleValue):
        return None
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    if starred or len(target.elts) != len(value.items):
        return None
    return list(zip(target.elts, value.items))


def assign_name(
    context: FunctionContext, node: ast.Name | ast.MatchAs | ast.MatchStar, value: Value
) -> None:
    """Assign a value to a name.

    A constant is bound to a name with one assignment, which then needs no variable.
    """
    name, span = context.variable_name(node), context.span(node)
    if name in context.ranges.single_assignment and name not in context.declared_types:
        constants = _assign_non_constants(context, name, value, span)
        if constants is not None:
            bind(context, name, constants, span)
            return
    set_value(context, name, value, span)


def _assign_non_constants(
    context: FunctionContext, name: str, value: Value, span: Span
) -> Value | None:
    """Assign the items that are no constants to variables.

    Returns the value with its constants and these variables; None if it has no constants.
    """
    if isinstance(value, Const):
        return value
    if not isinstance(value, TupleValue) or not any(isinstance(e, Const) for e in leaves(value)):
        return None
    items: list[Value] = []
    for position, item in enumerate(value.items):
        variable = item_variable_at(name, value, position)
        item_value = _assign_non_constants(context, variable, item, span)
        if item_value is None:
            set_value(context, variable, item, item.span)
            item_value = read_variable(context, variable, item.span)
        items.append(item_value)
    return TupleValue(tuple(items), value.span, value.names)
