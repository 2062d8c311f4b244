"""Expressions that evaluate only some of their parts: ``a if c else b``, ``and``, ``or``."""

from __future__ import annotations

import ast

from pycu2c.base.dtypes import BOOL
from pycu2c.base.types import WEAK_BOOL, join
from pycu2c.frontend.evaluation_order import settled
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.comparisons import conditional_truth
from pycu2c.frontend.function_context import (
    Closure,
    Frame,
    Items,
    Static,
    Value,
    is_number,
    number,
    single,
)
from pycu2c.frontend.scope.variables import read, set_value
from pycu2c.frontend.statements import branches
from pycu2c.ir.builders import both, negation, scalar_type, truth
from pycu2c.ir.nodes import Const, Expr, If, Junction, Select
from pycu2c.ops.operators import UNARY_BY_NODE


def condition(frame: Frame, node: ast.expr) -> Expr:
    """An expression as a condition: ``and``, ``or`` and ``not`` need no values here."""
    match node:
        case ast.BoolOp():
            return _junction(frame, node)
        case ast.UnaryOp(op=ast.Not()):
            inner = condition(frame, node.operand)
            return arithmetic.unary(UNARY_BY_NODE[ast.Not], inner, frame.span(node))
        case _:
            value = frame.value(node)
            return truth_of(settled(frame, value) if isinstance(value, Items) else value)


def truth_of(value: Value) -> Expr:
    """``bool(value)``: of a tuple whether it has items, of None and strings as in Python."""
    match value:
        case Items():
            return Const(bool(value.items), WEAK_BOOL, value.span)
        case Static(value=None | str() | bytes()):
            return Const(bool(value.value), WEAK_BOOL, value.span)
        case Closure():
            return Const(True, WEAK_BOOL, value.span)
        case _:
            return truth(number(value, "the condition"))


def _op(node: ast.BoolOp) -> Junction:
    return Junction.AND if isinstance(node.op, ast.And) else Junction.OR


def _junction(frame: Frame, node: ast.BoolOp) -> Expr:
    op, span = _op(node), frame.span(node)
    joined = condition(frame, node.values[0])
    for part in node.values[1:]:
        if isinstance(joined, Const) and bool(joined.value) is (op is Junction.OR):
            return joined  # decided: the rest need not even have a type
        with frame.block() as written:
            value = condition(frame, part)
        if written:
            joined = conditional_truth(frame, joined, written, value, op)
        else:
            joined = both(op, joined, value, span)
    return joined


def connective(frame: Frame, node: ast.BoolOp) -> Value:
    """``a and b`` as a value: the operand that decides, in the joined type."""
    op = _op(node)
    values: list[Value] = []
    for position, part in enumerate(node.values):
        with frame.block() as written:
            value = frame.value(part)
        if position and written:
            return _stepwise(frame, node, values)
        for s in written:
            frame.emit(s)
        if _decides(value, op):
            values.append(value)
            break
        if position + 1 == len(node.values) or not _is_passed(value, op):
            values.append(value)
    if len(values) == 1:
        return values[0]
    return _joined_values(frame, node, [number(v) for v in values])


def _joined_values(frame: Frame, node: ast.BoolOp, values: list[Expr]) -> Expr:
    op, span = _op(node), frame.span(node)
    common = scalar_type(values[0])
    for value in values[1:]:
        common = join(common, scalar_type(value))
    frame.note_join(node, common)
    if all(scalar_type(v).dtype is BOOL for v in values):  # the operand is the truth
        joined = truth(values[0])
        for value in values[1:]:
            joined = both(op, joined, truth(value), span)
        return arithmetic.coerce(joined, common)
    return _deciding(frame, op, [arithmetic.coerce(v, common) for v in values])


def _decides(value: Value, op: Junction) -> bool:
    """Whether the truth of a value is known, and ends the evaluation."""
    found = _truth_known(value)
    return found is not None and found is (op is Junction.OR)


def _is_passed(value: Value, op: Junction) -> bool:
    found = _truth_known(value)
    return found is not None and found is not (op is Junction.OR)


def _truth_known(value: Value) -> bool | None:
    if isinstance(value, (Static, Items, Closure)):
        known = truth_of(value)
        return bool(known.value) if isinstance(known, Const) else None
    return None


def _stepwise(frame: Frame, node: ast.BoolOp, before: list[Value]) -> Value:
    """Where a later operand needs statements: ``x = a; if x: x = b``."""
    op, span = _op(node), frame.span(node)
    name = frame.fresh("value")
    first = before[0]
    if len(before) > 1:
        first = _joined_values(frame, node, [number(v) for v in before])
    set_value(frame, name, first, span)
    test = truth_of(read(frame, name, span))
    with frame.block() as inside:
        rest = node.values[len(before) :]
        later = ast.copy_location(ast.BoolOp(node.op, rest), node) if len(rest) > 1 else rest[0]
        set_value(frame, name, frame.value(later), span)
    frame.emit(If(test if op is Junction.AND else negation(test), tuple(inside), (), span))
    if name in frame.types:
        frame.note_join(node, frame.settled.get(name, frame.types[name]))
    return read(frame, name, span)


def _deciding(frame: Frame, op: Junction, values: list[Expr]) -> Expr:
    first, *rest = values
    if not rest:
        return first

    def chosen(value: Expr) -> Expr:
        other = _deciding(frame, op, rest)
        decided = truth(value)
        if op is Junction.AND:
            return Select(decided, other, value, scalar_type(value), value.span)
        return Select(decided, value, other, scalar_type(value), value.span)

    return arithmetic.once(frame, first, chosen)


def conditional(frame: Frame, node: ast.IfExp) -> Value:
    """``then if test else orelse``: of numbers in the joined type."""
    test = condition(frame, node.test)
    if isinstance(test, Const):  # the other arm need not even have a type
        return frame.value(node.body if test.value else node.orelse)
    with frame.block() as then_written:
        then = frame.value(node.body)
    with frame.block() as else_written:
        orelse = frame.value(node.orelse)
    span = frame.span(node)
    if not then_written and not else_written and _are_numbers(then, orelse):
        chosen = arithmetic.choose(test, single(then), single(orelse), span)
        frame.note_join(node, scalar_type(chosen))
        return chosen
    found = branches.branched(frame, test, span, (then, then_written), (orelse, else_written))
    if is_number(found):
        frame.note_join(node, scalar_type(single(found)))
    return found


def _are_numbers(*values: Value) -> bool:
    return all(map(is_number, values))
