"""What stands in the brackets of a subscript: ``i``, ``1:n``, ``...``, ``'x'``, in their order of
evaluation. Knows no arrays."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.frontend.evaluation_order import acts, before, in_order, variable_of
from pycu2c.frontend.expressions.array_views import Part, Rest, Subscript
from pycu2c.frontend.function_context import Frame, Items, Static, Value, number, shown
from pycu2c.ir.builders import is_atom
from pycu2c.ir.nodes import Const, Expr


def subscripts_of(frame: Frame, node: ast.expr) -> list[Subscript | Static]:
    """The parts of a subscript, evaluated from left to right; a tuple counts as its items."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    for part in nodes:
        if isinstance(part, (ast.List, ast.ListComp)):
            fail(
                "slice",
                Label(frame.span(part), "a list picks several elements"),
                help="a thread takes one element at a time: a[i]; for several write a loop",
            )
    values = iter(in_order(frame, [inner for part in nodes for inner in _evaluated(part)]))
    out: list[Subscript | Static] = []
    for part in nodes:
        if isinstance(part, ast.Slice):
            bounds = (part.lower, part.upper, part.step)
            given = [None if n is None else _bound(next(values)) for n in bounds]
            out.append(_slice(frame, given, frame.span(part)))
        else:
            out += _flat(next(values), frame.span(part))
    return out


def _evaluated(part: ast.expr) -> list[ast.expr]:
    if not isinstance(part, ast.Slice):
        return [part]
    return [n for n in (part.lower, part.upper, part.step) if n is not None]


def after_owner(
    frame: Frame, owner: Value, index: ast.expr
) -> tuple[Value, list[Subscript | Static]]:
    """A subscript, and its owner, which is evaluated before it."""
    with frame.block() as written:
        given = subscripts_of(frame, index)
    if written:
        owner = before(frame, owner, tuple(written))
        frame.emit_all(written)
    return owner, given


def _flat(value: Value, span: Span) -> list[Subscript | Static]:
    if isinstance(value, Items):
        return [index for item in value.items for index in _flat(item, span)]
    if isinstance(value, Static) and value.value is ...:
        return [Rest(span)]
    if isinstance(value, Static) and isinstance(value.value, str):
        return [value]
    if isinstance(value, Static) and value.value is None:
        fail(
            "slice",
            Label(span, "this would add an axis"),
            help="leave it out: write one index or slice for each axis that there is",
        )
    return [number(value, "the index")]


def indices_in(given: list[Subscript | Static]) -> list[Subscript]:
    for item in given:
        if isinstance(item, Static):
            fail(
                "index-type",
                Label(item.span, f"this is {shown(item)}"),
                help="index with whole numbers; a field's name stands alone: a[i]['x']",
            )
    return [item for item in given if not isinstance(item, Static)]


def _slice(frame: Frame, given: list[Expr | None], span: Span) -> Part:
    """Bounds that do something, or go with a computed step, are computed once."""
    fixed = given[2] is None or isinstance(given[2], Const)
    if not fixed or any(e is not None and acts(e) for e in given):
        given = [e if e is None or is_atom(e) else variable_of(frame, e, "bound") for e in given]
    start, stop, step = given
    if step is None or isinstance(step, Const):
        return Part(start, stop, _constant_step(step, span), span)
    return Part(start, stop, step, span)


def _bound(value: Value) -> Expr | None:
    if isinstance(value, Static) and value.value is None:
        return None
    return number(value, "a bound of the slice")


def _constant_step(given: Const | None, span: Span) -> int:
    step = 1 if given is None else given.value
    if isinstance(step, int) and step:
        return step
    where = span if given is None else given.span
    fail(
        "slice",
        Label(where, "a step that takes no element further"),
        help="write a whole number other than 0: a[::2], a[::-1]",
    )


def kept_index(frame: Frame, item: Subscript | Static) -> Subscript | Static:
    """An index that is written for each of several arrays."""
    if isinstance(item, (Part, Rest, Static)) or is_atom(item):
        return item
    return variable_of(frame, item, "at")
