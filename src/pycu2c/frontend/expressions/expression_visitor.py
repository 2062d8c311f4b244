"""Lower expressions: dispatch on the kind of syntax."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.calls.arguments import reject_unpacking
from pycu2c.frontend.calls.call_visitor import call
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize_effects
from pycu2c.frontend.expressions import arithmetic, comprehensions
from pycu2c.frontend.expressions.attributes import attribute
from pycu2c.frontend.expressions.comparisons import compare
from pycu2c.frontend.expressions.conditional import boolean_value, conditional, truth_of
from pycu2c.frontend.expressions.subscripts import subscript
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements.assignments import walrus
from pycu2c.frontend.subset.unsupported_syntax import UNSUPPORTED
from pycu2c.frontend.value_checks import require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.builders import literal, negation
from pycu2c.ir.nodes import Const, Expr
from pycu2c.ops.operators import ADD, BINARY_BY_NODE, MUL, UNARY_BY_NODE


def expression(context: FunctionContext, node: ast.expr) -> Value:
    """Return the value of an expression: IR of a number, or a compile-time object."""
    match node:
        case ast.Constant():
            return _constant(context, node)
        case ast.Name():
            return name_resolution.resolve(context, node)
        case ast.Attribute():
            return attribute(context, node)
        case ast.Tuple() | ast.List():
            return _tuple(context, node)
        case ast.BinOp():
            return _binary(context, node)
        case ast.UnaryOp():
            return _unary(context, node)
        case ast.Compare():
            return compare(context, node)
        case ast.BoolOp():
            return boolean_value(context, node)
        case ast.IfExp():
            return conditional(context, node)
        case ast.Subscript():
            return subscript(context, node)
        case ast.Call():
            return call(context, node)
        case ast.NamedExpr():
            return walrus(context, node)
        case ast.Lambda():
            return device_calls.lambda_value(context, node)
        case ast.ListComp() | ast.GeneratorExp():
            return comprehensions.comprehension(context, node)
        case ast.Starred():
            fail(
                "starred",
                Label(context.span(node), "this function takes its arguments one by one"),
                hint="write them out; max, min and sum take a tuple as it is: max(t)",
            )
        case _:
            UNSUPPORTED.report(context.span(node))


def _constant(context: FunctionContext, node: ast.Constant) -> Value:
    span = context.span(node)
    if isinstance(node.value, (bool, int, float, complex)):
        return literal(node.value, span)
    return StaticObject(node.value, span)  # None or a string; others are errors where they are used


def _tuple(context: FunctionContext, node: ast.Tuple | ast.List) -> TupleValue:
    """Lower ``(a, b, *t)``; a list of fixed length is a tuple."""
    nodes = [n.value if isinstance(n, ast.Starred) else n for n in node.elts]
    items: list[Value] = []
    for item, value in zip(node.elts, evaluate_in_order(context, nodes)):
        is_range = isinstance(value, StaticObject) and isinstance(value.value, range)
        if not isinstance(item, ast.Starred):
            items.append(value)
        elif isinstance(value, TupleValue) or is_range:
            items += comprehensions.static_items(value)
        else:
            reject_unpacking(value, context.span(item))
    return TupleValue(tuple(items), context.span(node))


def _binary(context: FunctionContext, node: ast.BinOp) -> Value:
    left, right = evaluate_in_order(context, [node.left, node.right])
    operator, span = BINARY_BY_NODE[type(node.op)], context.span(node)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue) and operator is ADD:
        return TupleValue((*left.items, *right.items), span)
    if operator is MUL:
        for items, count in ((left, right), (right, left)):
            is_integer = isinstance(count, Const) and count.type.dtype.is_integral
            if isinstance(items, TupleValue) and not isinstance(count, Const | TupleValue):
                fail(
                    "constant-needed",
                    Label(count.span, "the number of items is not known here"),
                    hint="for elements that change, cuda.local.array(64, np.float32) has a fixed "
                    "maximum; pass an array for more",
                )
            if isinstance(items, TupleValue) and isinstance(count, Const) and is_integer:
                evaluated = materialize_effects(context, items)
                assert isinstance(evaluated, TupleValue)
                comprehensions.check_unrolled_count(len(evaluated.items) * int(count.value), span)
                return TupleValue(evaluated.items * int(count.value), span)
    return arithmetic.binary(context, operator, require_number(left), require_number(right), span)


def _unary(context: FunctionContext, node: ast.UnaryOp) -> Expr:
    if isinstance(node.op, ast.Not):
        return negation(truth_of(context.value(node.operand)))
    operator = UNARY_BY_NODE[type(node.op)]
    return arithmetic.unary(operator, context.number(node.operand), context.span(node))
