"""Subscripts as syntax: ``i``, ``1:n``, ``...``, ``'x'``, in the order of evaluation."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.frontend.evaluation_order import (
    assign_temporary,
    evaluate_in_order,
    materialize_if_changed,
    may_have_effects,
)
from pycu2c.frontend.expressions.array_views import EllipsisIndex, SliceBounds, Subscript
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import reject, require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.builders import is_atom
from pycu2c.ir.nodes import Const, Expr


def evaluate_subscripts(context: FunctionContext, node: ast.expr) -> list[Subscript | StaticObject]:
    """Return the parts of a subscript, evaluated from left to right; tuples are flattened."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    for part in nodes:
        if isinstance(part, (ast.List, ast.ListComp)):
            fail(
                "slice",
                Label(context.span(part), "a list selects elements"),
                hint="a thread takes one element at a time: a[i]; for more write a loop",
            )
    values = iter(
        evaluate_in_order(context, [inner for part in nodes for inner in _expressions_in(part)])
    )
    out: list[Subscript | StaticObject] = []
    for part in nodes:
        if isinstance(part, ast.Slice):
            bounds = (part.lower, part.upper, part.step)
            evaluated_bounds = [None if n is None else _require_bound(next(values)) for n in bounds]
            out.append(_slice(context, evaluated_bounds, context.span(part)))
        else:
            out += _flatten(next(values), context.span(part))
    return out


def _expressions_in(part: ast.expr) -> list[ast.expr]:
    if not isinstance(part, ast.Slice):
        return [part]
    return [n for n in (part.lower, part.upper, part.step) if n is not None]


def evaluate_after_owner(
    context: FunctionContext, owner: Value, index: ast.expr
) -> tuple[Value, list[Subscript | StaticObject]]:
    """Return a subscript and its owner, which is evaluated first."""
    with context.block() as prefix:
        subscripts = evaluate_subscripts(context, index)
    if prefix:
        owner = materialize_if_changed(context, owner, tuple(prefix))
        context.emit_all(prefix)
    return owner, subscripts


def _flatten(value: Value, span: Span) -> list[Subscript | StaticObject]:
    if isinstance(value, TupleValue):
        return [index for item in value.items for index in _flatten(item, span)]
    if isinstance(value, StaticObject) and value.value is ...:
        return [EllipsisIndex(span)]
    if isinstance(value, StaticObject) and isinstance(value.value, str):
        return [value]
    if isinstance(value, StaticObject) and value.value is None:
        fail(
            "slice",
            Label(span, "this would add an axis"),
            hint="leave it out: write one index or slice for each axis",
        )
    return [require_number(value, "the index")]


def array_subscripts(subscripts: list[Subscript | StaticObject]) -> list[Subscript]:
    for item in subscripts:
        if isinstance(item, StaticObject):
            reject(
                item,
                "index-type",
                "index with integers; a field's name is an index of its own: a[i]['x']",
            )
    return [item for item in subscripts if not isinstance(item, StaticObject)]


def _slice(context: FunctionContext, bounds: list[Expr | None], span: Span) -> SliceBounds:
    """Return the bounds of a slice.

    Bounds with side effects, or with a computed step, are stored in variables.
    """
    has_constant_step = bounds[2] is None or isinstance(bounds[2], Const)
    if not has_constant_step or any(e is not None and may_have_effects(e) for e in bounds):
        bounds = [
            e if e is None or is_atom(e) else assign_temporary(context, e, "bound") for e in bounds
        ]
    start, stop, step = bounds
    if step is None or isinstance(step, Const):
        return SliceBounds(start, stop, _constant_step(step, span), span)
    return SliceBounds(start, stop, step, span)


def _require_bound(value: Value) -> Expr | None:
    if isinstance(value, StaticObject) and value.value is None:
        return None
    return require_number(value, "a bound of the slice")


def _constant_step(constant: Const | None, span: Span) -> int:
    step = 1 if constant is None else constant.value
    if isinstance(step, int) and step:
        return step
    error_span = span if constant is None else constant.span
    fail(
        "slice",
        Label(error_span, "the step of a slice is a constant other than 0"),
        hint="write an integer other than 0: a[::2], a[::-1]",
    )


def materialize_index(
    context: FunctionContext, item: Subscript | StaticObject
) -> Subscript | StaticObject:
    """Evaluate an index once that is used for each array of a selection."""
    if isinstance(item, (SliceBounds, EllipsisIndex, StaticObject)) or is_atom(item):
        return item
    return assign_temporary(context, item, "at")
