"""Preserve Python's order of evaluation.

Statements that a part of an expression emits run after the parts to its left, and only where Python
evaluates that part.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pycu2c.base.types import Scalar
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.values import (
    Value,
    map_leaves,
    subexpressions,
)
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Call,
    Cast,
    Const,
    Dim,
    Expr,
    Load,
    Store,
    Var,
    View,
)
from pycu2c.ir.walk import all_expressions, children, expressions, statements, with_children


def evaluate_in_order(
    context: FunctionContext,
    nodes: Sequence[ast.expr],
    evaluate: Callable[[ast.expr], Value] | None = None,
) -> list[Value]:
    """Evaluate expressions from left to right."""
    return collect_in_order(context, map(evaluate or context.value, nodes))


def collect_in_order(context: FunctionContext, values: Iterator[Value]) -> list[Value]:
    """Collect values that are evaluated as the iterator yields them."""
    out: list[Value] = []
    while True:
        with context.block() as emitted:
            value = next(values, None)
        if emitted:
            out = [materialize_if_changed(context, earlier, tuple(emitted)) for earlier in out]
            context.emit_all(emitted)
        if value is None:
            return out
        out.append(value)


def materialize_effects(context: FunctionContext, value: Value) -> Value:
    """Return a value that can be read repeatedly; evaluate it now if it has side effects."""
    return materialize(context, value, "item") if may_have_effects(value) else value


def may_have_effects(value: Value) -> bool:
    """Return whether the evaluation of a value may have side effects."""
    return any(map(has_effect, subexpressions(value)))


def reads_or_changes_memory(value: Value) -> bool:
    """Return whether a value depends on memory or may have side effects."""
    return any(isinstance(e, Load) or has_effect(e) for e in subexpressions(value))


def materialize_if_changed(context: FunctionContext, value: Value, later: Body) -> Value:
    """Store a value in a variable before statements that could change it."""

    def materialized(leaf: Expr) -> Value:
        return materialize(context, leaf, "first") if _may_change(leaf, later) else leaf

    return map_leaves(value, materialized)


def _may_change(value: Expr, later: Body) -> bool:
    # compare Python names, because live ranges of one name may be merged again
    assigned = {s.var.name.split(".", 1)[0] for s in statements(later) if isinstance(s, Assign)}
    writes = any(isinstance(s, Store) for s in statements(later)) or any(
        has_effect(e) for e in all_expressions(later)
    )
    for e in expressions(value):
        if isinstance(e, Var) and e.name.split(".", 1)[0] in assigned:
            return True
        if has_effect(e) or (writes and isinstance(e, (Load, Call))):
            return True
    return False


def has_effect(e: Expr) -> bool:
    """Return whether a node may have side effects."""
    return isinstance(e, Call) or (isinstance(e, Apply) and e.intrinsic.has_effect)


def materialize(context: FunctionContext, value: Value, prefix: str) -> Value:
    """Store a value in fresh variables, whose names start with ``prefix``."""

    def materialized(leaf: Expr) -> Value:
        if isinstance(leaf, View):
            return materialize_view(context, leaf, prefix)
        if isinstance(leaf, Const) or not isinstance(leaf.type, Scalar):
            return leaf
        return assign_temporary(context, leaf, prefix)

    return map_leaves(value, materialized)


def materialize_view(context: FunctionContext, view: View, prefix: str) -> View:
    """Store the starts, steps and lengths of a view in fresh variables, if they may change."""
    numbers = children(view)[1:]
    materialized = tuple(
        number if is_invariant(context, number) else assign_temporary(context, number, prefix)
        for number in numbers
    )
    result = with_children(view, (view.array, *materialized))
    assert isinstance(result, View)
    return result


def is_invariant(context: FunctionContext, e: Expr) -> bool:
    """Return whether an expression has the same value everywhere and costs nothing."""
    match e:
        case Const() | Dim():
            return True
        case Var():
            return e.name in context.ranges.invariant
        case Cast():
            return is_invariant(context, e.operand)
        case _:
            return False


def assign_temporary(context: FunctionContext, value: Expr, prefix: str) -> Var:
    """Store a number in a fresh variable."""
    var = Var(context.fresh(prefix), scalar_type(value), value.span)
    context.emit(Assign(var, value, value.span))
    return var
