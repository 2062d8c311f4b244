"""Comparisons: of numbers, of tuples item by item, ``in``, ``is None``, and chains of these."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.frontend.evaluation_order import acts, in_order, kept, variable_of
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.arithmetic import whole_number
from pycu2c.frontend.function_context import Frame, Items, Static, Value, is_number, number, shown
from pycu2c.ir.builders import both, cast, integer, is_atom, negation, scalar_type
from pycu2c.ir.nodes import Assign, Const, Expr, If, Junction, Let, Stmt, Var
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import BY_NODE, EQ, MOD, NE, SUB

Comparison: TypeAlias = type[ast.cmpop]

_RANGE = ("<start>", "<stop>", "<step>")  # the names of the bounds that ``in`` looks between


def compare(frame: Frame, node: ast.Compare) -> Expr:
    """``a < b``, ``a < b < c``, ``x in t``, ``x is None``."""
    first = [node.left, node.comparators[0]]
    left, right = in_order(frame, first, lambda n: _operand(frame, node, n))
    return _chain(frame, [left, right], node, 0)


def _operand(frame: Frame, node: ast.Compare, operand: ast.expr) -> Value:
    """A value to compare; ``in`` may look into a range that is computed."""
    sought = (c for c, op in zip(node.comparators, node.ops) if isinstance(op, (ast.In, ast.NotIn)))
    if isinstance(operand, ast.Call) and operand in sought and not operand.keywords:
        callee = frame.value(operand.func)
        if isinstance(callee, Static) and callee.value is range and 1 <= len(operand.args) <= 3:
            given = in_order(frame, operand.args)
            bounds = [whole_number(number(v, "a bound of the range")) for v in given]
            return _range_of(bounds, frame.span(operand))
    return frame.value(operand)


def _range_of(bounds: list[Expr], span: Span) -> Items:
    start = bounds[0] if len(bounds) > 1 else integer(0, span)
    step = bounds[2] if len(bounds) > 2 else integer(1, span)
    return Items((start, bounds[0] if len(bounds) == 1 else bounds[1], step), span, _RANGE)


def _chain(frame: Frame, pair: list[Value], node: ast.Compare, position: int) -> Expr:
    """``a < b < c`` is ``a < b and b < c`` with b evaluated once, and c only if that holds."""
    op, span = type(node.ops[position]), frame.span(node)
    left, middle = pair
    if position + 1 == len(node.ops):
        return compared(frame, op, left, middle, span)
    if is_number(left) and is_number(middle):
        with frame.block() as written:
            result = _numbers(frame, (number(left), number(middle)), node, position)
        if not written:
            return result
        left = kept(frame, left, "value")  # what is written reads it: it needs a variable
    middle = kept(frame, middle, "value")
    holds = compared(frame, op, left, middle, span)
    return _and_then(frame, holds, middle, node, position + 1)


def _numbers(frame: Frame, pair: tuple[Expr, Expr], node: ast.Compare, position: int) -> Expr:
    left, middle = pair
    span = frame.span(node)
    if not is_atom(left) and not is_atom(middle):  # keep the order of evaluation
        name = frame.fresh("value")
        own = Var(name, scalar_type(left), left.span)
        return Let(name, left, _numbers(frame, (own, middle), node, position), span)

    def chained(value: Expr) -> Expr:
        holds = compared(frame, type(node.ops[position]), left, value, span)
        return _and_then(frame, holds, value, node, position + 1)

    return arithmetic.once(frame, middle, chained)


def _and_then(frame: Frame, holds: Expr, left: Value, node: ast.Compare, position: int) -> Expr:
    span = frame.span(node)
    with frame.block() as written:
        right = _operand(frame, node, node.comparators[position])
        rest = _chain(frame, [left, right], node, position)
    if not written:
        return both(Junction.AND, holds, rest, span)
    return conditional_truth(frame, holds, written, rest, Junction.AND)


def conditional_truth(
    frame: Frame, first: Expr, written: Sequence[Stmt], rest: Expr, op: Junction
) -> Expr:
    """``first and rest`` where ``rest`` needs statements: they run only if it is evaluated."""
    result = variable_of(frame, first, "holds")
    assign = Assign(result, rest, rest.span)
    go_on = result if op is Junction.AND else negation(result)
    frame.emit(If(go_on, (*written, assign), (), rest.span))
    return result


def compared(frame: Frame, op: Comparison, left: Value, right: Value, span: Span) -> Expr:
    """One comparison of two values of any kind."""
    if not (is_number(left) and is_number(right)) or op in (ast.Is, ast.IsNot):
        if acts(left) or acts(right):  # not every item may be compared
            left, right = kept(frame, left, "value"), kept(frame, right, "value")
    if op in (ast.Is, ast.IsNot):
        return _identical(op, left, right, span)
    if op in (ast.In, ast.NotIn):
        found = _contained(frame, left, right, span)
        return found if op is ast.In else negation(found)
    operator = BY_NODE[op]
    if isinstance(left, Items) and isinstance(right, Items) and operator not in (EQ, NE):
        return _ordered_items(frame, op, left, right, span)
    if isinstance(left, Items) and isinstance(right, Items):
        equal = _equal_items(frame, left, right, span)
        return equal if operator is EQ else negation(equal)
    if _known(left) and _known(right) and operator in (EQ, NE):
        return Const(_same(left, right) is (operator is EQ), WEAK_BOOL, span)
    if operator in (EQ, NE) and (_known(left) != _known(right)):
        return Const(operator is NE, WEAK_BOOL, span)
    return arithmetic.compare(frame, operator, number(left), number(right), span)


def _known(value: Value) -> bool:
    """Whether a value is a string, None or another object that is no number."""
    return isinstance(value, Static)


def _same(left: Value, right: Value) -> bool:
    assert isinstance(left, Static)
    assert isinstance(right, Static)
    a, b = (scalar_named(v) or v for v in (left.value, right.value))
    return a is b or (isinstance(a, (str, Scalar)) and isinstance(b, (str, Scalar)) and a == b)


def _identical(op: Comparison, left: Value, right: Value, span: Span) -> Expr:
    """``is`` compares with None: whether an argument was given is known when compiling."""
    sides = [v for v in (left, right) if isinstance(v, Static) and v.value is None]
    if not sides:
        fail(
            "comparison",
            Label(span, "`is` compares with None in a kernel"),
            help="compare values with `==`",
        )
    return Const((len(sides) == 2) is (op is ast.Is), WEAK_BOOL, span)


def _contained(frame: Frame, left: Value, right: Value, span: Span) -> Expr:
    if isinstance(left, Static) and isinstance(right, Static):
        if isinstance(left.value, str) and isinstance(right.value, str):
            return Const(left.value in right.value, WEAK_BOOL, span)
    if isinstance(right, Static) and isinstance(right.value, range):
        known = right.value
        right = _range_of([integer(n, span) for n in (known.start, known.stop, known.step)], span)
    if isinstance(right, Items) and right.names == _RANGE:
        return _in_range(frame, left, right, span)
    if not isinstance(right, Items):
        fail(
            "comparison",
            Label(right.span, f"this is {shown(right)}"),
            help="`in` looks into a tuple; for an array write a loop over its elements",
        )
    left = kept(frame, left, "value") if len(right.items) > 1 and not _cheap(left) else left
    found: Expr = Const(False, WEAK_BOOL, span)
    for item in right.items:
        found = both(Junction.OR, found, compared(frame, ast.Eq, left, item, span), span)
    return found


def _in_range(frame: Frame, left: Value, found: Items, span: Span) -> Expr:
    """``x in range(start, stop, step)``: between the bounds, and whole steps from the first."""
    if not is_number(left):
        return Const(False, WEAK_BOOL, span)
    kept_values = [number(kept(frame, v, "bound")) for v in (left, *found.items)]
    value, start, stop, step = kept_values

    def holds(op: Comparison, a: Expr, b: Expr) -> Expr:
        return arithmetic.compare(frame, BY_NODE[op], a, b, span)

    zero = integer(0, span)
    upwards = both(Junction.AND, holds(ast.LtE, start, value), holds(ast.Lt, value, stop), span)
    downwards = both(Junction.AND, holds(ast.Lt, stop, value), holds(ast.LtE, value, start), span)
    if isinstance(step, Const):
        between = upwards if step.value > 0 else downwards
    else:
        between = arithmetic.choose(holds(ast.Gt, step, zero), upwards, downwards, span)
    is_whole = scalar_type(value).dtype.is_whole
    if is_whole and isinstance(step, Const) and abs(step.value) == 1:
        return between
    distance = arithmetic.binary(frame, SUB, value, start, span)
    if is_whole:
        distance = arithmetic.binary(frame, SUB, cast(value, WEAK_INT), start, span)
    rest = arithmetic.binary(frame, MOD, distance, step, span)
    return both(Junction.AND, between, holds(ast.Eq, rest, zero), span)


def _cheap(value: Value) -> bool:
    return is_number(value) and is_atom(number(value))


def _ordered_items(frame: Frame, op: Comparison, left: Items, right: Items, span: Span) -> Expr:
    """``(a, b) < (c, d)``: as the first items that differ."""
    pairs = list(zip(left.items, right.items))
    lengths = integer(len(left.items), span), integer(len(right.items), span)
    result = compared(frame, op, *lengths, span)
    for a, b in reversed([(kept(frame, a, "item"), kept(frame, b, "item")) for a, b in pairs]):
        same = compared(frame, ast.Eq, a, b, span)
        result = arithmetic.choose(same, result, compared(frame, op, a, b, span), span)
    return result


def _equal_items(frame: Frame, left: Items, right: Items, span: Span) -> Expr:
    if len(left.items) != len(right.items):
        return Const(False, WEAK_BOOL, span)
    equal: Expr = Const(True, WEAK_BOOL, span)
    for a, b in zip(left.items, right.items):
        equal = both(Junction.AND, equal, compared(frame, ast.Eq, a, b, span), span)
    return equal
