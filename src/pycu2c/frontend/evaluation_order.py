"""Preserve Python's order of evaluation.

Statements that a part of an expression emits run after the parts to its left, and only where Python
evaluates that part.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pycu2c.base.types import Scalar
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.values import Value, map_leaves, subexpressions
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
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
    return any(isinstance(e, ir.Load) or has_effect(e) for e in subexpressions(value))


def materialize_if_changed(context: FunctionContext, value: Value, later: ir.Body) -> Value:
    """Store a value in a variable before statements that could change it."""

    def materialized(leaf: ir.Expr) -> Value:
        return materialize(context, leaf, "first") if _may_change(leaf, later) else leaf

    return map_leaves(value, materialized)


def _may_change(value: ir.Expr, later: ir.Body) -> bool:
    # compare Python names, because live ranges of one name may be merged again
    assigned = {s.var.name.split(".", 1)[0] for s in statements(later) if isinstance(s, ir.Assign)}
    writes = any(isinstance(s, ir.Store) for s in statements(later)) or any(
        has_effect(e) for e in all_expressions(later)
    )
    for e in expressions(value):
        if isinstance(e, ir.Var) and e.name.split(".", 1)[0] in assigned:
            return True
        if has_effect(e) or (writes and isinstance(e, (ir.Load, ir.Call))):
            return True
    return False


def has_effect(e: ir.Expr) -> bool:
    """Return whether a node may have side effects."""
    return isinstance(e, ir.Call) or (isinstance(e, ir.Apply) and e.intrinsic.has_effect)


def materialize(context: FunctionContext, value: Value, prefix: str) -> Value:
    """Store a value in fresh variables, whose names start with ``prefix``."""

    def materialized(leaf: ir.Expr) -> Value:
        if isinstance(leaf, ir.View):
            return materialize_view(context, leaf, prefix)
        if isinstance(leaf, ir.Const) or not isinstance(leaf.type, Scalar):
            return leaf
        return assign_temporary(context, leaf, prefix)

    return map_leaves(value, materialized)


def materialize_view(context: FunctionContext, view: ir.View, prefix: str) -> ir.View:
    """Store the starts, steps and lengths of a view in fresh variables, if they may change."""
    numbers = children(view)[1:]
    materialized = tuple(
        number if is_invariant(context, number) else assign_temporary(context, number, prefix)
        for number in numbers
    )
    result = with_children(view, (view.array, *materialized))
    assert isinstance(result, ir.View)
    return result


def is_invariant(context: FunctionContext, e: ir.Expr) -> bool:
    """Return whether an expression has the same value everywhere and costs nothing."""
    match e:
        case ir.Const() | ir.Dim():
            return True
        case ir.Var():
            return e.name in context.ranges.invariant
        case ir.Cast():
            return is_invariant(context, e.operand)
        case _:
            return False


def assign_temporary(context: FunctionContext, value: ir.Expr, prefix: str) -> ir.Var:
    """Store a number in a fresh variable."""
    var = ir.Var(context.fresh(prefix), scalar_type(value), value.span)
    context.emit(ir.Assign(var, value, value.span))
    return var
