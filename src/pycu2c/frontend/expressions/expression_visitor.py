"""ast.expr -> value: which room each kind of syntax goes to."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.calls.call_visitor import call
from pycu2c.frontend.evaluation_order import in_order, settled
from pycu2c.frontend.expressions import arithmetic, comprehensions
from pycu2c.frontend.expressions.comparisons import compare
from pycu2c.frontend.expressions.conditional import condition, conditional, connective, truth_of
from pycu2c.frontend.expressions.subscripts import attribute, subscript
from pycu2c.frontend.function_context import Frame, Items, Static, Value, number, shown
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements.assignments import walrus
from pycu2c.frontend.subset.unsupported_syntax import UNKNOWN
from pycu2c.ir.builders import literal, negation
from pycu2c.ir.nodes import Const, Expr
from pycu2c.ops.operators import ADD, BY_NODE, MUL, UNARY_BY_NODE

__all__ = ["condition", "expression", "numeric"]


def expression(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression: a number's IR, or something known while compiling."""
    match node:
        case ast.Constant():
            return _constant(frame, node)
        case ast.Name():
            return name_resolution.resolve(frame, node)
        case ast.Attribute():
            return attribute(frame, node)
        case ast.Tuple() | ast.List():
            return _display(frame, node)
        case ast.BinOp():
            return _binary(frame, node)
        case ast.UnaryOp():
            return _unary(frame, node)
        case ast.Compare():
            return compare(frame, node)
        case ast.BoolOp():
            return connective(frame, node)
        case ast.IfExp():
            return conditional(frame, node)
        case ast.Subscript():
            return subscript(frame, node)
        case ast.Call():
            return call(frame, node)
        case ast.NamedExpr():
            return walrus(frame, node)
        case ast.Lambda():
            return device_calls.lambda_value(frame, node)
        case ast.ListComp() | ast.GeneratorExp():
            return comprehensions.comprehension(frame, node)
        case ast.Starred():
            fail(
                "starred",
                Label(frame.span(node), "this function takes its arguments one by one"),
                help="write them out; max, min and sum take a tuple as it is: max(t)",
            )
        case _:
            fail(
                UNKNOWN.code,
                Label(frame.span(node), UNKNOWN.text),
                help=UNKNOWN.help,
            )


def numeric(frame: Frame, node: ast.expr) -> Expr:
    """An expression that must be a number."""
    return frame.number(node)


def _constant(frame: Frame, node: ast.Constant) -> Value:
    span = frame.span(node)
    if isinstance(node.value, (bool, int, float, complex)):
        return literal(node.value, span)
    return Static(node.value, span)  # None, a string, or an error where it is used


def _display(frame: Frame, node: ast.Tuple | ast.List) -> Items:
    """``(a, b, *t)``: a list of a fixed length is a tuple."""
    nodes = [n.value if isinstance(n, ast.Starred) else n for n in node.elts]
    items: list[Value] = []
    for given, value in zip(node.elts, in_order(frame, nodes)):
        if not isinstance(given, ast.Starred):
            items.append(value)
        elif isinstance(value, Items) or _is_range(value):
            items += comprehensions.static_items(value)
        else:
            fail(
                "starred",
                Label(frame.span(given), f"this is {shown(value)}, no tuple"),
                help="write the items one by one",
            )
    return Items(tuple(items), frame.span(node))


def _is_range(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.value, range)


def _binary(frame: Frame, node: ast.BinOp) -> Value:
    left, right = in_order(frame, [node.left, node.right])
    operator, span = BY_NODE[type(node.op)], frame.span(node)
    if isinstance(left, Items) and isinstance(right, Items) and operator is ADD:
        return Items((*left.items, *right.items), span)
    if operator is MUL:
        for items, count in ((left, right), (right, left)):
            if isinstance(items, Items) and isinstance(count, Const) and _is_whole(count):
                again = settled(frame, items)
                assert isinstance(again, Items)
                comprehensions.check_count(len(again.items) * int(count.value), span)
                return Items(again.items * int(count.value), span)
    return arithmetic.binary(frame, operator, number(left), number(right), span)


def _is_whole(number: Const) -> bool:
    return number.type.dtype.is_whole


def _unary(frame: Frame, node: ast.UnaryOp) -> Expr:
    if isinstance(node.op, ast.Not):
        return negation(truth_of(frame.value(node.operand)))
    operator = UNARY_BY_NODE[type(node.op)]
    return arithmetic.unary(operator, frame.number(node.operand), frame.span(node))
