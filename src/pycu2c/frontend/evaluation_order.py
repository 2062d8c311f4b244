"""Preserve Python's order of evaluation.

Statements that a part of an expression emits run after the parts to its left, and only where Python
evaluates that part.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.live_ranges import base_name
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
    assigned = {base_name(s.var.name) for s in statements(later) if isinstance(s, ir.Assign)}
    writes = any(isinstance(s, ir.Store) for s in statements(later))
    changes = Changes(frozenset(assigned), writes or any(map(has_effect, all_expressions(later))))
    return changes.materialized(context, value, "first")


@dataclass(frozen=True, slots=True)
class Changes:
    """The Python names that statements assign, and whether they change memory.

    Python names are compared, because live ranges of one name may be merged again.
    """

    names: frozenset[str]
    memory: bool

    def may_affect(self, value: ir.Expr) -> bool:
        """Return whether a value may differ after the statements, or has side effects itself."""
        return any(
            base_name(e.name) in self.names
            if isinstance(e, ir.Var)
            else has_effect(e) or (self.memory and isinstance(e, ir.Load))
            for e in expressions(value)
        )

    def materialized(self, context: FunctionContext, value: Value, prefix: str) -> Value:
        """Store the parts of a value that the statements may affect in variables."""

        def change(leaf: ir.Expr) -> Value:
            return materialize(context, leaf, prefix) if self.may_affect(leaf) else leaf

        return map_leaves(value, change)


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
    materialized = [assign_unless_invariant(context, number, prefix) for number in numbers]
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


def assign_unless_invariant(context: FunctionContext, value: ir.Expr, prefix: str) -> ir.Expr:
    """Store a number in a fresh variable, unless it is invariant."""
    return value if is_invariant(context, value) else assign_temporary(context, value, prefix)
