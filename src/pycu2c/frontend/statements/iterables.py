"""What a for loop runs over: it is evaluated once, and gives a value for each round.

A tuple is ``Listed``: its values are known one by one, and the loop is written out. A range or an
array is ``Counted``: round by round, from a counter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.frontend.evaluation_order import acts, in_order, is_steady, kept, variable_of
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.arithmetic import binary, counting, to_whole
from pycu2c.frontend.expressions.subscripts import item_of
from pycu2c.frontend.function_context import (
    Chosen,
    Closure,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    number,
    shown,
)
from pycu2c.frontend.hints import replacements
from pycu2c.frontend.statements import branches
from pycu2c.ir.builders import integer, scalar_type
from pycu2c.ir.nodes import Apply, Const, Expr, Stmt, Var, View
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, FLOORDIV, MUL, SUB


@dataclass(frozen=True, slots=True)
class Counted:
    """A value for each number that ``range(start, stop, step)`` gives."""

    start: Expr
    stop: Expr
    step: Expr
    value: Callable[[Expr], Value]
    is_sequence: bool = True  # whether reversed() takes it


@dataclass(frozen=True, slots=True)
class Listed:
    """One value after the other; no more of them than ``limit``, if there is one. Then elements
    of arrays are among them, which are read in their round, and only if it is run."""

    values: tuple[Value, ...]
    limit: Expr | None = None
    is_sequence: bool = True


Iterable: TypeAlias = Counted | Listed


def iterable(frame: Frame, node: ast.expr) -> Iterable:
    """What ``for x in node`` runs over."""
    if isinstance(node, ast.Call) and _may_be_form(node.func):
        callee = frame.value(node.func)
        for function, build in _FORMS:
            if isinstance(callee, Static) and callee.value is function:
                return build(frame, node)
    return _of_value(frame, frame.value(node))


def _may_be_form(function: ast.expr) -> bool:
    """Whether it is a name, or ``builtins.range``; but no ``a.reshape``, which has no value."""
    names = [form.__name__ for form, _ in _FORMS]
    return isinstance(function, ast.Name) or (
        isinstance(function, ast.Attribute) and function.attr in names
    )


def _of_value(frame: Frame, value: Value) -> Iterable:
    span = value.span
    match value:
        case Items():
            return Listed(value.items)
        case Static(value=range() as known):
            start, stop, step = (integer(n, span) for n in (known.start, known.stop, known.step))
            return Counted(start, stop, step, _itself)
        case Static(value=str() as text):
            return Listed(tuple(Static(character, span) for character in text))
        case Chosen() if value.type.ndim:
            return _of_array(frame, value)
        case Var() | View() if isinstance(value.type, Array) and value.type.ndim:
            return _of_array(frame, value)
        case _:
            _refuse(value)


def _refuse(value: Value) -> NoReturn:
    is_object = isinstance(value, (Static, Closure))
    fail(
        "iterable",
        Label(value.span, f"this is {shown(value)}"),
        help="write a tuple of the values" if is_object else "to count, write range(n)",
    )


def _of_array(frame: Frame, array: Var | View | Chosen) -> Counted:
    """The elements of an array; of one with more axes, its rows."""
    steady = kept(frame, array, "rows")
    span = array.span
    if isinstance(steady, Chosen):
        count = number(
            branches.each(frame, steady, lambda known: array_views.length(known, 0, span))
        )
    else:
        assert is_array(steady)
        count = array_views.length(steady, 0, span)

    def row(counter: Expr) -> Value:
        return item_of(frame, steady, counter, span)

    return Counted(integer(0, span), count, integer(1, span), row)


def _itself(counter: Expr) -> Value:
    return counter


# ---- functions that give something to run over -------------------------------------------------


def _range(frame: Frame, node: ast.Call) -> Iterable:
    if node.keywords or not 1 <= len(node.args) <= 3:
        fail(
            "argument-count",
            Label(frame.span(node), "range takes 1 to 3 numbers"),
            help="write range(stop), range(start, stop) or range(start, stop, step)",
        )
    values = in_order(frame, node.args)
    given = [_counted(number(value)) for value in values]
    span = frame.span(node)
    start = given[0] if len(given) > 1 else integer(0, span)
    step = given[2] if len(given) > 2 else integer(1, span)
    if isinstance(step, Const) and step.value == 0:
        fail(
            "argument-type",
            Label(step.span, "the step of a range is not 0"),
            help="write 1 or -1, or what to count by",
        )
    return Counted(start, given[0] if len(given) == 1 else given[1], step, _itself)


def _whole(e: Expr, rule: str) -> Expr:
    if not scalar_type(e).dtype.is_whole:
        fail(
            "argument-type",
            Label(e.span, f"{rule}, this is `{e.type}`"),
            help=to_whole(e),
        )
    return counting(e)


def _counted(e: Expr) -> Expr:
    """A number of a range."""
    if isinstance(e, Const) and scalar_type(e).dtype.is_float and e.value != int(e.value):
        fail(
            "argument-type",
            Label(e.span, f"range counts in integers, this is `{e.type}`"),
            help="count the steps, and multiply: for i in range(n): x = start + i * step",
        )
    return _whole(e, "range counts in integers")


def _enumerate(frame: Frame, node: ast.Call) -> Iterable:
    span = frame.span(node)
    starts = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
    if not node.args or len(starts) > 1 or len(node.args) + len(node.keywords) != 1 + len(starts):
        fail(
            "argument-count",
            Label(span, replacements.amount(len(node.args), "argument", "arguments")),
            help="write enumerate(a), or enumerate(a, start)",
        )
    inner = iterable(frame, node.args[0])
    start: Expr = integer(0, span)
    for given in starts:
        with frame.block() as written:
            start = _whole(frame.number(given), "enumerate counts in integers")
        inner = _before(frame, inner, written)
        frame.emit_all(written)
        start = _settled(frame, start)
    if isinstance(inner, Listed):
        numbers = (_sum(frame, start, integer(i, span)) for i in range(len(inner.values)))
        pairs = tuple(Items(pair, span) for pair in zip(numbers, inner.values))
        return Listed(pairs, inner.limit, is_sequence=False)
    counted = _from_zero(frame, inner, span)

    def pair_of(counter: Expr) -> Value:
        return Items((_sum(frame, start, counter), counted.value(counter)), span)

    return replace(counted, value=pair_of, is_sequence=False)


def _zip(frame: Frame, node: ast.Call) -> Iterable:
    span = frame.span(node)
    if node.keywords:
        fail(
            "argument-count",
            Label(frame.span(node.keywords[0]), "zip stops at the shortest in a kernel"),
            help="leave it out, and compare the lengths before the launch",
        )
    parts = _given(frame, node.args)
    lists = [part for part in parts if isinstance(part, Listed)]
    if not lists and parts:
        return _zip_counted([_from_zero(frame, p, span) for p in parts if isinstance(p, Counted)])
    rounds = min((len(part.values) for part in lists), default=0)
    limits = [part.limit for part in lists if part.limit is not None]
    columns: list[tuple[Value, ...]] = []
    for part in parts:
        if isinstance(part, Listed):
            # what stands beside elements, or may be left out, is evaluated now
            fixed = len(lists) < len(parts) or any(map(acts, part.values))
            columns.append(tuple(kept(frame, v, "item") if fixed else v for v in part.values))
            continue
        counted = _from_zero(frame, part, span)
        if isinstance(counted.stop, Const):
            rounds = min(rounds, max(int(counted.stop.value), 0))
        else:
            limits.append(counted.stop)
        columns.append(tuple(counted.value(integer(i, span)) for i in range(rounds)))
    values = tuple(Items(group, span) for group in list(zip(*columns))[:rounds])
    limit = _settled(frame, _least(limits)) if limits else None
    return Listed(values, limit, is_sequence=False)


def _zip_counted(parts: list[Counted]) -> Counted:
    first = parts[0]
    span = first.start.span

    def group(counter: Expr) -> Value:
        return Items(tuple(part.value(counter) for part in parts), span)

    least = _least([part.stop for part in parts])
    return Counted(first.start, least, first.step, group, is_sequence=False)


def _reversed(frame: Frame, node: ast.Call) -> Iterable:
    span = frame.span(node)
    if len(node.args) != 1 or node.keywords:
        fail(
            "argument-count",
            Label(span, replacements.amount(len(node.args), "argument", "arguments")),
            help="write reversed(a)",
        )
    (inner,) = _given(frame, node.args)
    if not inner.is_sequence:
        fail(
            "iterable",
            Label(frame.span(node.args[0]), "reversed takes a range, a tuple or an array"),
            help="reverse what is inside: zip(reversed(a), reversed(b))",
        )
    if isinstance(inner, Listed):
        return Listed(inner.values[::-1], is_sequence=False)
    step = _constant_step(inner)
    start, stop = (_settled(frame, e) for e in (inner.start, inner.stop))
    count = _length(frame, start, stop, step)
    last = _sum(frame, start, binary(frame, MUL, _less_one(frame, count), inner.step, span))
    if step == 1:
        last = _less_one(frame, stop)
    before = binary(frame, SUB, start, inner.step, span)
    return Counted(last, before, integer(-step, span), inner.value, is_sequence=False)


def _given(frame: Frame, nodes: list[ast.expr]) -> list[Iterable]:
    """What the arguments of a call are to run over; ``*t`` gives each item of a tuple."""
    found: list[Iterable] = []
    for node in nodes:
        with frame.block() as written:
            new = (
                _starred(frame, node) if isinstance(node, ast.Starred) else [iterable(frame, node)]
            )
        found = [*(_before(frame, earlier, written) for earlier in found), *new]
        frame.emit_all(written)
    return found


def _starred(frame: Frame, node: ast.Starred) -> list[Iterable]:
    value = frame.value(node.value)
    if not isinstance(value, Items):
        fail(
            "starred",
            Label(frame.span(node), f"this is {shown(value)}, no tuple"),
            help="write the items one by one",
        )
    return [_of_value(frame, item) for item in value.items]


def _before(frame: Frame, given: Iterable, written: list[Stmt]) -> Iterable:
    """What was evaluated before other statements, which may change what it is made of."""
    if not written:
        return given
    if isinstance(given, Listed):
        return replace(given, values=tuple(kept(frame, v, "item") for v in given.values))
    start, stop, step = (_settled(frame, e) for e in (given.start, given.stop, given.step))
    return replace(given, start=start, stop=stop, step=step)


_FORMS: tuple[tuple[type, Callable[[Frame, ast.Call], Iterable]], ...] = (
    (range, _range),
    (enumerate, _enumerate),
    (zip, _zip),
    (reversed, _reversed),
)


# ---- counting ----------------------------------------------------------------------------------


def _from_zero(frame: Frame, given: Counted, span: Span) -> Counted:
    """The same values, by a counter that runs from 0 in steps of 1."""
    step = _constant_step(given)
    if _is_zero(given.start) and step == 1:
        return given
    start, stop = (_settled(frame, e) for e in (given.start, given.stop))
    count = _length(frame, start, stop, step)

    def value(counter: Expr) -> Value:
        distance = binary(frame, MUL, counter, given.step, span) if step != 1 else counter
        return given.value(_sum(frame, start, distance))

    return replace(given, start=integer(0, span), stop=count, step=integer(1, span), value=value)


def _constant_step(given: Counted) -> int:
    if isinstance(given.step, Const):
        return int(given.step.value)
    fail(
        "constant-needed",
        Label(given.step.span, "the step of a range inside of enumerate, zip or reversed"),
        help="write a literal; for a computed step count with range(n) and multiply",
    )


def _length(frame: Frame, start: Expr, stop: Expr, step: int) -> Expr:
    """How many numbers a range gives; below 0 for none."""
    span = stop.span
    low, high = (start, stop) if step > 0 else (stop, start)
    distance = high if _is_zero(low) else binary(frame, SUB, high, low, span)
    pace = abs(step)
    if pace == 1:
        return distance
    rounded = binary(frame, ADD, distance, integer(pace - 1, span), span)
    return binary(frame, FLOORDIV, rounded, integer(pace, span), span)


def _less_one(frame: Frame, e: Expr) -> Expr:
    return binary(frame, SUB, e, integer(1, e.span), e.span)


def _sum(frame: Frame, a: Expr, b: Expr) -> Expr:
    return b if _is_zero(a) else binary(frame, ADD, b, a, b.span)


def _is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 0


def _least(lengths: list[Expr]) -> Expr:
    least, *rest = lengths
    for other in rest:
        if isinstance(least, Const) and isinstance(other, Const):
            least = least if least.value <= other.value else other
        else:
            least = Apply(REGISTRY["min"], (least, other), WEAK_INT, least.span)
    return least


def _settled(frame: Frame, e: Expr) -> Expr:
    """A number that is read in each round, as it is before the first."""
    return e if is_steady(frame, e) else number(variable_of(frame, e, "bound"))
