"""Names that an iteration or a case assigns; constants stay constants.

So in ``for k in (0, 1): t[k]`` the index is a literal, and ``if k == 1`` is decided at compile
time.
"""

from __future__ import annotations

import ast

from pycu2c.base.source import Span
from pycu2c.frontend.expressions.composite_values import item_variable
from pycu2c.frontend.function_context import FunctionContext, TupleValue, UnknownType, Value
from pycu2c.frontend.scope.variables import bind, read_variable, set_value
from pycu2c.frontend.statements.assignments import assign_to
from pycu2c.ir.nodes import Const


def assign_constants(context: FunctionContext, target: ast.expr, value: Value) -> None:
    """Assign a value to a target whose parts are independent of each other."""
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
    """Return pairs of targets and items if their numbers match, else None."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, TupleValue):
        return None
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    if starred or len(target.elts) != len(value.items):
        return None
    return list(zip(target.elts, value.items))


def assign_name(
    context: FunctionContext, node: ast.Name | ast.MatchAs | ast.MatchStar, value: Value
) -> None:
    """Assign a value to a name; bind it if the name has one assignment and a constant value."""
    name, span = context.ranges.names.get(id(node)), context.span(node)
    if name is None:
        raise UnknownType
    if name in context.ranges.single_assignment and name not in context.declared:
        known = _with_constants(context, name, value, span)
        if known is not None:
            bind(context, name, known, span)
            context.record_store(node, name)
            return
    set_value(context, name, value, span)
    context.record_store(node, name)


def _with_constants(context: FunctionContext, name: str, value: Value, span: Span) -> Value | None:
    """Return the value with its constants, the rest in variables; None if it has no constants."""
    if isinstance(value, Const):
        return value
    if not isinstance(value, TupleValue) or not any(_has_constant(item) for item in value.items):
        return None
    items: list[Value] = []
    for position, item in enumerate(value.items):
        part = item_variable(name, value.names[position] if value.names else str(position))
        known = _with_constants(context, part, item, span)
        if known is None:
            set_value(context, part, item, item.span)
            known = read_variable(context, part, item.span)
        items.append(known)
    return TupleValue(tuple(items), value.span, value.names)


def _has_constant(value: Value) -> bool:
    if isinstance(value, TupleValue):
        return any(_has_constant(item) for item in value.items)
    return isinstance(value, Const)
