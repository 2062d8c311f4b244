"""``match``: a chain of conditions; cases that cannot match at compile time are not lowered."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL
from pycu2c.frontend.evaluation_order import is_invariant, materialize
from pycu2c.frontend.expressions.comparisons import compare_values, short_circuit
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.bindings import bound_name
from pycu2c.frontend.scope.constant_bindings import assign_name
from pycu2c.frontend.scope.live_ranges import base_name
from pycu2c.frontend.scope.variables import read_variable, set_value
from pycu2c.frontend.subset.unsupported_syntax import UNSUPPORTED
from pycu2c.frontend.value_checks import describe, is_array, is_none, is_number
from pycu2c.frontend.values import ArraySelect, Closure, StaticObject, TupleValue, Value
from pycu2c.ir.builders import logical, scalar_type
from pycu2c.ir.nodes import Assign, Body, Const, Expr, If, LogicalOp, Var

Captures: TypeAlias = "list[tuple[ast.MatchAs | ast.MatchStar, Value]]"


def match_statement(context: FunctionContext, node: ast.Match) -> None:
    """Lower ``match subject: case …``; the subject is evaluated once."""
    captured_names = {
        name for case in node.cases for n in _pattern_nodes(case) if (name := bound_name(n))
    }
    subject = _materialize_subject(context, context.value(node.subject), captured_names)
    _emit_cases(context, node.cases, subject)


def _pattern_nodes(case: ast.match_case) -> Iterator[ast.AST]:
    yield from ast.walk(case.pattern)
    if case.guard is not None:
        yield from ast.walk(case.guard)


def _materialize_subject(context: FunctionContext, value: Value, captured_names: set[str]) -> Value:
    """Copy the subject to fresh variables, unless no case can change it.

    A case may assign captured names, and later cases must read the original subject.
    """
    match value:
        case TupleValue():
            items = tuple(
                _materialize_subject(context, item, captured_names) for item in value.items
            )
            return TupleValue(items, value.span, value.names)
        case Var() if base_name(value.name) not in captured_names:
            return value
        case StaticObject() | Closure() | ArraySelect():
            return value
        case _:
            return value if is_invariant(context, value) else materialize(context, value, "subject")


def _emit_cases(context: FunctionContext, cases: list[ast.match_case], subject: Value) -> None:
    """Emit the first case, with the others in its ``else``."""
    if not cases:
        return
    case, *others = cases
    captures: Captures = []
    test = matches(context, case.pattern, subject, captures)
    if case.guard is not None and not _is_constant(test, False):
        test = _with_guard(context, case.guard, test, captures)
    if _is_constant(test, False):
        _emit_cases(context, others, subject)
        return
    if _is_constant(test, True):
        capture(context, captures)
        context.emit_all(context.lower(case.body))
        return
    with context.block() as then:
        capture(context, captures)
        context.emit_all(context.lower(case.body))
    with context.block() as orelse:
        _emit_cases(context, others, subject)
    context.emit(If(test, tuple(then), tuple(orelse), context.span(case.pattern)))


def _with_guard(context: FunctionContext, guard: ast.expr, test: Expr, captures: Captures) -> Expr:
    """Return ``test and guard``; the guard may read the captured names."""
    with context.block() as prefix:
        capture(context, captures)
        guard_test = condition(context, guard)
    captures.clear()
    if _is_constant(test, True):
        context.emit_all(prefix)
        return guard_test
    if prefix:
        return short_circuit(context, test, prefix, guard_test, LogicalOp.AND)
    return logical(LogicalOp.AND, test, guard_test, test.span)


def capture(context: FunctionContext, captures: Captures) -> None:
    """Assign the captured values of a pattern to its names."""
    for node, value in captures:
        assign_name(context, node, value)


def _is_constant(test: Expr, value: bool) -> bool:
    return isinstance(test, Const) and bool(test.value) is value


# ---- patterns ----------------------------------------------------------------------------------


def matches(
    context: FunctionContext, pattern: ast.pattern, value: Value, captures: Captures
) -> Expr:
    """Return the condition that a value matches, and add the captured values."""
    span = context.span(pattern)
    match pattern:
        case ast.MatchValue(value=pattern_value):
            return _equal(context, value, context.value(pattern_value), span)
        case ast.MatchSingleton(value=pattern_value):
            return _singleton(context, value, pattern_value, span)
        case ast.MatchSequence(patterns=patterns):
            return _sequence(context, patterns, value, captures, span)
        case ast.MatchOr():
            return _alternatives(context, pattern, value, captures)
        case ast.MatchAs(pattern=inner, name=name):
            test: Expr = Const(True, WEAK_BOOL, span)
            if inner is not None:
                test = matches(context, inner, value, captures)
            if name is not None:
                captures.append((pattern, value))
            return test
        case _:
            UNSUPPORTED.report(span)  # the subset check rejects others


def _equal(context: FunctionContext, value: Value, pattern_value: Value, span: Span) -> Expr:
    if is_number(value) != is_number(pattern_value):
        if is_array(value) or isinstance(value, ArraySelect):
            fail(
                "match",
                Label(span, f"compared with {describe(value)}"),
                hint="match one element: match a[i]:",
            )
        return Const(False, WEAK_BOOL, span)
    if is_number(value) or isinstance(value, StaticObject) or isinstance(pattern_value, TupleValue):
        return compare_values(context, ast.Eq, value, pattern_value, span)
    return Const(False, WEAK_BOOL, span)


def _singleton(
    context: FunctionContext, value: Value, pattern_value: bool | None, span: Span
) -> Expr:
    """Match ``None``, ``True`` or ``False`` by identity, so 1 does not match True."""
    if pattern_value is None:
        return Const(is_none(value), WEAK_BOOL, span)
    if not is_number(value):
        return Const(False, WEAK_BOOL, span)
    subject_type = scalar_type(value)
    if subject_type.dtype.kind is not DTypeKind.BOOL:
        return Const(False, WEAK_BOOL, span)
    if not subject_type.weak:
        fail(
            "match",
            Label(
                span,
                f"the subject is `{subject_type}`, a NumPy bool, which is never identical to "
                f"{pattern_value}",
            ),
            hint="match bool(x)",
        )
    return compare_values(context, ast.Eq, value, Const(pattern_value, WEAK_BOOL, span), span)


def _sequence(
    context: FunctionContext,
    patterns: list[ast.pattern],
    value: Value,
    captures: Captures,
    span: Span,
) -> Expr:
    """Match ``[a, b, *rest]`` with a tuple of known length."""
    if not isinstance(value, TupleValue):
        return Const(False, WEAK_BOOL, span)
    items = list(value.items)
    star_positions = [i for i, pattern in enumerate(patterns) if isinstance(pattern, ast.MatchStar)]
    rest_length = len(items) - len(patterns) + len(star_positions)
    if rest_length < 0 or (not star_positions and rest_length > 0):
        return Const(False, WEAK_BOOL, span)
    for star in star_positions:
        items[star : star + rest_length] = [
            TupleValue(tuple(items[star : star + rest_length]), value.span)
        ]
    test: Expr = Const(True, WEAK_BOOL, span)
    for pattern, item in zip(patterns, items):
        if isinstance(pattern, ast.MatchStar):
            if pattern.name is not None:
                captures.append((pattern, item))
            continue
        test = logical(LogicalOp.AND, test, matches(context, pattern, item, captures), span)
        if _is_constant(test, False):
            return test
    return test


def _alternatives(
    context: FunctionContext, pattern: ast.MatchOr, value: Value, captures: Captures
) -> Expr:
    """Match ``1 | 2``; if the alternatives capture names, the first match assigns them."""
    span = context.span(pattern)
    alternatives: list[tuple[Expr, Captures]] = []
    for alternative in pattern.patterns:
        alternative_captures: Captures = []
        test = matches(context, alternative, value, alternative_captures)
        if not _is_constant(test, False):
            alternatives.append((test, alternative_captures))
        if _is_constant(test, True):
            break
    if not alternatives:
        return Const(False, WEAK_BOOL, span)
    if len(alternatives) == 1 or not alternatives[0][1]:
        captures += alternatives[0][1]
        result = alternatives[0][0]
        for test, _ in alternatives[1:]:
            result = logical(LogicalOp.OR, result, test, span)
        return result
    return _first_match(context, alternatives, captures, span)


def _first_match(
    context: FunctionContext,
    alternatives: list[tuple[Expr, Captures]],
    captures: Captures,
    span: Span,
) -> Expr:
    """Emit ``if test: x = …; hit = True`` for each alternative, nested in the ``else`` branches."""
    hit = Var(context.fresh("hit"), WEAK_BOOL, span)
    variables = {
        _captured_name(node): context.fresh(_captured_name(node)) for node, _ in alternatives[0][1]
    }
    chain: Body = (Assign(hit, Const(False, WEAK_BOOL, span), span),)
    for test, alternative_captures in reversed(alternatives):
        with context.block() as then:
            for node, value in alternative_captures:
                set_value(context, variables[_captured_name(node)], value, span)
            context.emit(Assign(hit, Const(True, WEAK_BOOL, span), span))
        chain = (If(test, tuple(then), chain, span),)
    context.emit_all(chain)
    for node, _ in alternatives[0][1]:
        captures.append((node, read_variable(context, variables[_captured_name(node)], span)))
    return hit


def _captured_name(node: ast.MatchAs | ast.MatchStar) -> str:
    assert node.name is not None
    return node.name
