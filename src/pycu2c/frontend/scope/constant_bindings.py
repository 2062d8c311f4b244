"""Names that one round of a loop, or one case, gives a value: a constant stays one.

So ``for k in (0, 1): t[k]`` has literal indices, and ``if k == 1`` is decided while compiling.
"""

from __future__ import annotations

import ast

from pycu2c.base.source import Span
from pycu2c.frontend.expressions.composite_values import part_name
from pycu2c.frontend.function_context import Frame, Items, Unknown, Value
from pycu2c.frontend.scope.variables import bind, read, set_value
from pycu2c.frontend.statements.assignments import assign_to
from pycu2c.ir.nodes import Const


def give(frame: Frame, target: ast.expr, value: Value) -> None:
    """``target = value``, where assigning to one name does not change another's value."""
    if isinstance(target, ast.Name):
        name_value(frame, target, value)
        return
    pairs = plain_pairs(target, value)
    if pairs is None:
        assign_to(frame, target, value)
        return
    for inner, item in pairs:
        give(frame, inner, item)


def plain_pairs(target: ast.expr, value: Value) -> list[tuple[ast.expr, Value]] | None:
    """Targets and their items, where they are as many."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, Items):
        return None
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    if starred or len(target.elts) != len(value.items):
        return None
    return list(zip(target.elts, value.items))


def name_value(frame: Frame, node: ast.Name | ast.MatchAs | ast.MatchStar, value: Value) -> None:
    """Give a name its value."""
    name, span = frame.ranges.names.get(id(node)), frame.span(node)
    if name is None:
        raise Unknown
    if name in frame.ranges.once and name not in frame.declared:
        known = _with_constants(frame, name, value, span)
        if known is not None:
            bind(frame, name, known, span)
            frame.note_store(node, name)
            return
    set_value(frame, name, value, span)
    frame.note_store(node, name)


def _with_constants(frame: Frame, name: str, value: Value, span: Span) -> Value | None:
    """The value with its constants in place and variables for the rest; None if it has none."""
    if isinstance(value, Const):
        return value
    if not isinstance(value, Items) or not any(_has_constant(item) for item in value.items):
        return None
    items: list[Value] = []
    for position, item in enumerate(value.items):
        part = part_name(name, value.names[position] if value.names else str(position))
        known = _with_constants(frame, part, item, span)
        if known is None:
            set_value(frame, part, item, item.span)
            known = read(frame, part, item.span)
        items.append(known)
    return Items(tuple(items), value.span, value.names)


def _has_constant(value: Value) -> bool:
    if isinstance(value, Items):
        return any(_has_constant(item) for item in value.items)
    return isinstance(value, Const)
