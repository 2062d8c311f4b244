"""Expressions that evaluate their parts conditionally: ``a if c else b``, ``and``, ``or``."""

from __future__ import annotations

import ast

from pycu2c.base.dtypes import BOOL
from pycu2c.base.types import WEAK_BOOL, promote
from pycu2c.frontend.evaluation_order import materialize_effects
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.comparisons import conditional_truth
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.variables import read_variable, set_value
from pycu2c.frontend.statements import branches
from pycu2c.frontend.value_checks import is_number, require_number, require_value
from pycu2c.frontend.values import Closure, StaticObject, TupleValue, Value
from pycu2c.ir.builders import logical, negation, scalar_type, truth
from pycu2c.ir.nodes import Const, Expr, If, LogicalOp, Select
from pycu2c.ops.operators import UNARY_BY_NODE


def condition(context: FunctionContext, node: ast.expr) -> Expr:
    """Lower an expression as a condition, where ``and``, ``or`` and ``not`` need no values."""
    match node:
        case ast.BoolOp():
            return _boolean_condition(context, node)
        case ast.UnaryOp(op=ast.Not()):
            inner = condition(context, node.operand)
            return arithmetic.unary(UNARY_BY_NODE[ast.Not], inner, context.span(node))
        case _:
            value = context.value(node)
            return truth_of(
                materialize_effects(context, value) if isinstance(value, TupleValue) else value
            )


def truth_of(value: Value) -> Expr:
    """Lower ``bool(value)``."""
    match value:
        case TupleValue():
            return Const(bool(value.items), WEAK_BOOL, value.span)
        case StaticObject(value=None | str() | bytes()):
            return Const(bool(value.value), WEAK_BOOL, value.span)
        case Closure():
            return Const(True, WEAK_BOOL, value.span)
        case _:
            return truth(require_number(value, "the condition"))


def _op(node: ast.BoolOp) -> LogicalOp:
    return LogicalOp.AND if isinstance(node.op, ast.And) else LogicalOp.OR


def _boolean_condition(context: FunctionContext, node: ast.BoolOp) -> Expr:
    op, span = _op(node), context.span(node)
    joined = condition(context, node.values[0])
    for part in node.values[1:]:
        if isinstance(joined, Const) and bool(joined.value) is (op is LogicalOp.OR):
            return joined  # decided: the rest may be untyped
        with context.block() as prefix:
            value = condition(context, part)
        if prefix:
            joined = conditional_truth(context, joined, prefix, value, op)
        else:
            joined = logical(op, joined, value, span)
    return joined


def boolean_value(context: FunctionContext, node: ast.BoolOp) -> Value:
    """Lower ``a and b`` as a value: the deciding operand, in the common type."""
    op = _op(node)
    values: list[Value] = []
    for position, part in enumerate(node.values):
        with context.block() as prefix:
            value = context.value(part)
        if position and prefix:
            return _evaluate_in_statements(context, node, values)
        context.emit_all(prefix)
        truth = _constant_truth(value)
        decides = truth is not None and truth is (op is LogicalOp.OR)
        if decides or truth is None or position + 1 == len(node.values):
            values.append(value)
        if decides:
            break
    if len(values) == 1:
        return values[0]
    return _joined_values(context, node, [require_number(v) for v in values])


def _joined_values(context: FunctionContext, node: ast.BoolOp, values: list[Expr]) -> Expr:
    op, span = _op(node), context.span(node)
    common = scalar_type(values[0])
    for value in values[1:]:
        common = promote(common, scalar_type(value))
    context.record_join(node, common)
    if all(scalar_type(v).dtype is BOOL for v in values):  # the operand equals its truth
        joined = truth(values[0])
        for value in values[1:]:
            joined = logical(op, joined, truth(value), span)
        return arithmetic.coerce(joined, common)
    return _select_deciding(context, op, [arithmetic.coerce(v, common) for v in values])


def _constant_truth(value: Value) -> bool | None:
    if isinstance(value, (StaticObject, TupleValue, Closure)):
        constant = truth_of(value)
        return bool(constant.value) if isinstance(constant, Const) else None
    return None


def _evaluate_in_statements(
    context: FunctionContext, node: ast.BoolOp, before: list[Value]
) -> Value:
    """Lower ``and``/``or`` whose later operands need statements: ``x = a; if x: x = b``."""
    op, span = _op(node), context.span(node)
    name = context.fresh("value")
    first = before[0]
    if len(before) > 1:
        first = _joined_values(context, node, [require_number(v) for v in before])
    set_value(context, name, first, span)
    test = truth_of(read_variable(context, name, span))
    with context.block() as inside:
        rest = node.values[len(before) :]
        later = ast.copy_location(ast.BoolOp(node.op, rest), node) if len(rest) > 1 else rest[0]
        set_value(context, name, context.value(later), span)
    context.emit(If(test if op is LogicalOp.AND else negation(test), tuple(inside), (), span))
    if name in context.types:
        context.record_join(node, context.previous_types.get(name, context.types[name]))
    return read_variable(context, name, span)


def _select_deciding(context: FunctionContext, op: LogicalOp, values: list[Expr]) -> Expr:
    first, *rest = values
    if not rest:
        return first

    def decide(value: Expr) -> Expr:
        other = _select_deciding(context, op, rest)
        decided = truth(value)
        if op is LogicalOp.AND:
            return Select(decided, other, value, scalar_type(value), value.span)
        return Select(decided, value, other, scalar_type(value), value.span)

    return arithmetic.evaluate_once(context, first, decide)


def conditional(context: FunctionContext, node: ast.IfExp) -> Value:
    """Lower ``then if test else orelse``."""
    test = condition(context, node.test)
    if isinstance(test, Const):  # the other arm may be untyped
        return context.value(node.body if test.value else node.orelse)
    with context.block() as then_prefix:
        then = context.value(node.body)
    with context.block() as else_prefix:
        orelse = context.value(node.orelse)
    span = context.span(node)
    if not then_prefix and not else_prefix and is_number(then) and is_number(orelse):
        chosen = arithmetic.select(test, then, orelse, span)
        context.record_join(node, scalar_type(chosen))
        return chosen
    result = branches.value_of_branches(
        context, test, span, (then, then_prefix), (orelse, else_prefix)
    )
    if is_number(result):
        context.record_join(node, scalar_type(require_value(result)))
    return result
