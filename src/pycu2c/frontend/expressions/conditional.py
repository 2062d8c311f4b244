"""Expressions that evaluate their parts conditionally: ``a if c else b``, ``and``, ``or``."""

from __future__ import annotations

import ast

from pycu2c.base.dtypes import BOOL
from pycu2c.base.types import WEAK_BOOL, promote
from pycu2c.frontend.evaluation_order import materialize_effects
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.comparisons import short_circuit
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.variables import read_variable, set_value
from pycu2c.frontend.statements import branches
from pycu2c.frontend.value_checks import is_number, require_number
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


def _logical_op(node: ast.BoolOp) -> LogicalOp:
    return LogicalOp.AND if isinstance(node.op, ast.And) else LogicalOp.OR


def _boolean_condition(context: FunctionContext, node: ast.BoolOp) -> Expr:
    op, span = _logical_op(node), context.span(node)
    result = condition(context, node.values[0])
    for operand in node.values[1:]:
        if isinstance(result, Const) and bool(result.value) is (op is LogicalOp.OR):
            return result  # decided: the rest may be untyped
        with context.block() as prefix:
            value = condition(context, operand)
        if prefix:
            result = short_circuit(context, result, prefix, value, op)
        else:
            result = logical(op, result, value, span)
    return result


def boolean_value(context: FunctionContext, node: ast.BoolOp) -> Value:
    """Lower ``a and b`` as a value: the deciding operand, in the common type."""
    op = _logical_op(node)
    values: list[Value] = []
    for position, operand in enumerate(node.values):
        with context.block() as prefix:
            value = context.value(operand)
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
    return _join_values(context, node, [require_number(v) for v in values])


def _join_values(context: FunctionContext, node: ast.BoolOp, values: list[Expr]) -> Expr:
    op, span = _logical_op(node), context.span(node)
    common = scalar_type(values[0])
    for value in values[1:]:
        common = promote(common, scalar_type(value))
    if all(scalar_type(v).dtype is BOOL for v in values):  # the operand equals its truth
        result = truth(values[0])
        for value in values[1:]:
            result = logical(op, result, truth(value), span)
        return arithmetic.coerce(result, common)
    return _select_deciding(context, op, [arithmetic.coerce(v, common) for v in values])


def _constant_truth(value: Value) -> bool | None:
    if isinstance(value, (StaticObject, TupleValue, Closure)):
        constant = truth_of(value)
        return bool(constant.value) if isinstance(constant, Const) else None
    return None


def _evaluate_in_statements(
    context: FunctionContext, node: ast.BoolOp, earlier_values: list[Value]
) -> Value:
    """Lower ``and``/``or`` whose later operands need statements: ``x = a; if x: x = b``."""
    op, span = _logical_op(node), context.span(node)
    name = context.fresh("value")
    first = earlier_values[0]
    if len(earlier_values) > 1:
        first = _join_values(context, node, [require_number(v) for v in earlier_values])
    set_value(context, name, first, span)
    test = truth_of(read_variable(context, name, span))
    with context.block() as statements:
        remaining = node.values[len(earlier_values) :]
        remaining_node = (
            ast.copy_location(ast.BoolOp(node.op, remaining), node)
            if len(remaining) > 1
            else remaining[0]
        )
        set_value(context, name, context.value(remaining_node), span)
    context.emit(If(test if op is LogicalOp.AND else negation(test), tuple(statements), (), span))
    return read_variable(context, name, span)


def _select_deciding(context: FunctionContext, op: LogicalOp, values: list[Expr]) -> Expr:
    first, *rest = values
    if not rest:
        return first

    def select_operand(value: Expr) -> Expr:
        other = _select_deciding(context, op, rest)
        test = truth(value)
        if op is LogicalOp.AND:
            return Select(test, other, value, scalar_type(value), value.span)
        return Select(test, value, other, scalar_type(value), value.span)

    return arithmetic.evaluate_once(context, first, select_operand)


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
        return arithmetic.select(test, then, orelse, span)
    arms = (then, then_prefix), (orelse, else_prefix)
    return branches.value_of_branches(context, test, span, *arms)
