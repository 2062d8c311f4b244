"""Comparisons: of numbers, of tuples item by item, ``in``, ``is None``, and chains."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.frontend.evaluation_order import (
    assign_temporary,
    evaluate_in_order,
    materialize,
    may_have_effects,
)
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.arithmetic import require_integer
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import is_number, reject, require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.builders import cast, integer, is_atom, logical, negation, scalar_type
from pycu2c.ir.nodes import Assign, Const, Expr, If, Let, LogicalOp, Stmt, Var
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import BINARY_BY_NODE, EQ, MOD, NE, SUB

Comparison: TypeAlias = type[ast.cmpop]

_RANGE_FIELDS = ("<start>", "<stop>", "<step>")  # the fields of a range in ``in``


def compare(context: FunctionContext, node: ast.Compare) -> Expr:
    """Lower ``a < b``, ``a < b < c``, ``x in t`` and ``x is None``."""
    operands = [node.left, node.comparators[0]]
    left, right = evaluate_in_order(context, operands, lambda n: _operand(context, node, n))
    return _chain(context, [left, right], node, 0)


def _operand(context: FunctionContext, node: ast.Compare, operand: ast.expr) -> Value:
    """Return an operand; the operand of ``in`` may be a computed range."""
    containers = (
        c for c, op in zip(node.comparators, node.ops) if isinstance(op, (ast.In, ast.NotIn))
    )
    if isinstance(operand, ast.Call) and operand in containers and not operand.keywords:
        callee = context.value(operand.func)
        if (
            isinstance(callee, StaticObject)
            and callee.value is range
            and 1 <= len(operand.args) <= 3
        ):
            arguments = evaluate_in_order(context, operand.args)
            bounds = [require_integer(require_number(v, "a bound of the range")) for v in arguments]
            return _range_tuple(bounds, context.span(operand))
    return context.value(operand)


def _range_tuple(bounds: list[Expr], span: Span) -> TupleValue:
    start = bounds[0] if len(bounds) > 1 else integer(0, span)
    step = bounds[2] if len(bounds) > 2 else integer(1, span)
    return TupleValue(
        (start, bounds[0] if len(bounds) == 1 else bounds[1], step), span, _RANGE_FIELDS
    )


def _chain(context: FunctionContext, pair: list[Value], node: ast.Compare, position: int) -> Expr:
    """Lower ``a < b < c`` as ``a < b and b < c``; b is evaluated once, c only if needed."""
    op, span = type(node.ops[position]), context.span(node)
    left, middle = pair
    if position + 1 == len(node.ops):
        return compare_values(context, op, left, middle, span)
    if is_number(left) and is_number(middle):
        with context.block() as prefix:
            result = _chain_numbers(
                context, (require_number(left), require_number(middle)), node, position
            )
        if not prefix:
            return result
        left = materialize(context, left, "value")  # the emitted statements read it
    middle = materialize(context, middle, "value")
    comparison = compare_values(context, op, left, middle, span)
    return _and_then(context, comparison, middle, node, position + 1)


def _chain_numbers(
    context: FunctionContext, pair: tuple[Expr, Expr], node: ast.Compare, position: int
) -> Expr:
    left, middle = pair
    span = context.span(node)
    if not is_atom(left) and not is_atom(middle):  # keep the order of evaluation
        name = context.fresh("value")
        variable = Var(name, scalar_type(left), left.span)
        return Let(name, left, _chain_numbers(context, (variable, middle), node, position), span)

    def chain_from(value: Expr) -> Expr:
        comparison = compare_values(context, type(node.ops[position]), left, value, span)
        return _and_then(context, comparison, value, node, position + 1)

    return arithmetic.evaluate_once(context, middle, chain_from)


def _and_then(
    context: FunctionContext, comparison: Expr, left: Value, node: ast.Compare, position: int
) -> Expr:
    span = context.span(node)
    with context.block() as prefix:
        right = _operand(context, node, node.comparators[position])
        rest = _chain(context, [left, right], node, position)
    if not prefix:
        return logical(LogicalOp.AND, comparison, rest, span)
    return short_circuit(context, comparison, prefix, rest, LogicalOp.AND)


def short_circuit(
    context: FunctionContext, first: Expr, prefix: Sequence[Stmt], rest: Expr, op: LogicalOp
) -> Expr:
    """Return ``first and rest`` or ``first or rest``; ``rest`` needs the statements ``prefix``.

    These are executed only if ``first`` does not determine the result.
    """
    result = assign_temporary(context, first, "holds")
    assign = Assign(result, rest, rest.span)
    condition = result if op is LogicalOp.AND else negation(result)
    context.emit(If(condition, (*prefix, assign), (), rest.span))
    return result


def compare_values(
    context: FunctionContext, op: Comparison, left: Value, right: Value, span: Span
) -> Expr:
    """Compare two values of any kind."""
    if not (is_number(left) and is_number(right)) or op in (ast.Is, ast.IsNot):
        if may_have_effects(left) or may_have_effects(right):  # the comparison may skip items
            left, right = materialize(context, left, "value"), materialize(context, right, "value")
    if op in (ast.Is, ast.IsNot):
        return _compare_identity(context, op, left, right, span)
    if op in (ast.In, ast.NotIn):
        contained = _membership(context, left, right, span)
        return contained if op is ast.In else negation(contained)
    operator = BINARY_BY_NODE[op]
    is_equality = operator in (EQ, NE)
    match left, right:
        case TupleValue(), TupleValue() if is_equality:
            equal = _equal_tuples_condition(context, left, right, span)
            return equal if operator is EQ else negation(equal)
        case TupleValue(), TupleValue():
            return _compare_tuple_order(context, op, left, right, span)
        case StaticObject(), StaticObject() if is_equality:
            is_equal = _are_equal_objects(left.value, right.value)
            return Const(is_equal is (operator is EQ), WEAK_BOOL, span)
        case (StaticObject(), _) | (_, StaticObject()) if is_equality:
            return Const(operator is NE, WEAK_BOOL, span)
    return arithmetic.compare(context, operator, require_number(left), require_number(right), span)


def _are_equal_objects(left: object, right: object) -> bool:
    """Return whether two strings, types, None or other compile-time objects are equal."""
    a, b = (scalar_named(v) or v for v in (left, right))
    return a is b or (isinstance(a, (str, Scalar)) and isinstance(b, (str, Scalar)) and a == b)


def _compare_identity(
    context: FunctionContext, op: Comparison, left: Value, right: Value, span: Span
) -> Expr:
    """Lower ``is``: of None and other objects at compile time, and of Python's bools."""
    if isinstance(left, StaticObject) and isinstance(right, StaticObject):
        return Const((left.value is right.value) is (op is ast.Is), WEAK_BOOL, span)
    pair = (left, right)
    if any(isinstance(v, StaticObject) and not isinstance(v.value, str) for v in pair):
        return Const(op is ast.IsNot, WEAK_BOOL, span)
    if is_number(left) and is_number(right):
        first, second = require_number(left), require_number(right)
        types = [scalar_type(first), scalar_type(second)]
        if types == [WEAK_BOOL, WEAK_BOOL]:
            equality = EQ if op is ast.Is else NE
            return arithmetic.compare(context, equality, first, second, span)
        has_numpy_bool = any(t.dtype.kind is DTypeKind.BOOL and not t.weak for t in types)
        if WEAK_BOOL in types and not has_numpy_bool:
            return Const(op is ast.IsNot, WEAK_BOOL, span)
    fail(
        "comparison",
        Label(span, "`is` compares Python's bools, None and other objects in a kernel"),
        hint="compare values with `==`",
    )


def _membership(context: FunctionContext, left: Value, right: Value, span: Span) -> Expr:
    if isinstance(left, StaticObject) and isinstance(right, StaticObject):
        if isinstance(left.value, str) and isinstance(right.value, str):
            return Const(left.value in right.value, WEAK_BOOL, span)
    if isinstance(right, StaticObject) and isinstance(right.value, range):
        numbers = right.value
        right = _range_tuple(
            [integer(n, span) for n in (numbers.start, numbers.stop, numbers.step)], span
        )
    if isinstance(right, TupleValue) and right.names == _RANGE_FIELDS:
        return _in_range(context, left, right, span)
    if not isinstance(right, TupleValue):
        reject(
            right, "comparison", "`in` takes a tuple; for an array write a loop over its elements"
        )
    if len(right.items) > 1 and not (is_number(left) and is_atom(left)):
        left = materialize(context, left, "value")
    result: Expr = Const(False, WEAK_BOOL, span)
    for item in right.items:
        result = logical(
            LogicalOp.OR, result, compare_values(context, ast.Eq, left, item, span), span
        )
    return result


def _in_range(context: FunctionContext, left: Value, bounds: TupleValue, span: Span) -> Expr:
    """Lower ``x in range(start, stop, step)``."""
    if not is_number(left):
        return Const(False, WEAK_BOOL, span)
    operands = [require_number(materialize(context, v, "bound")) for v in (left, *bounds.items)]
    value, start, stop, step = operands

    def compare_numbers(op: Comparison, a: Expr, b: Expr) -> Expr:
        return arithmetic.compare(context, BINARY_BY_NODE[op], a, b, span)

    zero = integer(0, span)
    in_ascending_range = logical(
        LogicalOp.AND,
        compare_numbers(ast.LtE, start, value),
        compare_numbers(ast.Lt, value, stop),
        span,
    )
    in_descending_range = logical(
        LogicalOp.AND,
        compare_numbers(ast.Lt, stop, value),
        compare_numbers(ast.LtE, value, start),
        span,
    )
    if isinstance(step, Const):
        is_between = in_ascending_range if step.value > 0 else in_descending_range
    else:
        is_between = arithmetic.select(
            compare_numbers(ast.Gt, step, zero), in_ascending_range, in_descending_range, span
        )
    is_integral = scalar_type(value).dtype.is_integral
    if is_integral and isinstance(step, Const) and abs(step.value) == 1:
        return is_between
    distance = arithmetic.binary(context, SUB, value, start, span)
    if is_integral:
        distance = arithmetic.binary(context, SUB, cast(value, WEAK_INT), start, span)
    remainder = arithmetic.binary(context, MOD, distance, step, span)
    return logical(LogicalOp.AND, is_between, compare_numbers(ast.Eq, remainder, zero), span)


def _compare_tuple_order(
    context: FunctionContext, op: Comparison, left: TupleValue, right: TupleValue, span: Span
) -> Expr:
    """Lower ``(a, b) < (c, d)``: compare the first items that differ."""
    pairs = list(zip(left.items, right.items))
    lengths = integer(len(left.items), span), integer(len(right.items), span)
    result = compare_values(context, op, *lengths, span)
    for a, b in reversed(
        [(materialize(context, a, "item"), materialize(context, b, "item")) for a, b in pairs]
    ):
        is_equal = compare_values(context, ast.Eq, a, b, span)
        result = arithmetic.select(is_equal, result, compare_values(context, op, a, b, span), span)
    return result


def _equal_tuples_condition(
    context: FunctionContext, left: TupleValue, right: TupleValue, span: Span
) -> Expr:
    if len(left.items) != len(right.items):
        return Const(False, WEAK_BOOL, span)
    equal: Expr = Const(True, WEAK_BOOL, span)
    for a, b in zip(left.items, right.items):
        equal = logical(LogicalOp.AND, equal, compare_values(context, ast.Eq, a, b, span), span)
    return equal
