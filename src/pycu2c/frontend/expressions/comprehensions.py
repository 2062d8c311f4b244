"""Comprehensions over what has a fixed length: unrolled, one value for each item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.frontend.evaluation_order import kept, one_by_one, settled
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import Chosen, Closure, Frame, Items, Static, Value, shown
from pycu2c.frontend.hints import replacements
from pycu2c.ir.builders import integer
from pycu2c.ir.nodes import Const, Load
from pycu2c.ir.walk import expressions

_MOST = 4096  # values that one comprehension, range or repeated tuple may give


def comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Items:
    """``[f(x) for x in t if g(x)]``: a tuple of as many items."""
    return Items(tuple(one_by_one(frame, generated(frame, node))), frame.span(node))


def generated(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Iterator[Value]:
    """The values of a comprehension, each evaluated when it is taken."""
    first = _iterated(frame, node, node.generators[0].iter)
    return _values(frame, node, 0, first)


def _iterated(frame: Frame, node: ast.ListComp | ast.GeneratorExp, source: ast.expr) -> Value:
    """What a comprehension runs over, as it is before the first item is taken."""
    value = frame.value(source)
    inner = [n for part in (node.elt, *_tests(node)) for n in ast.walk(part)]
    if isinstance(value, Items) and any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in inner):
        return kept(frame, value, "item") if _reads_memory(value) else settled(frame, value)
    return settled(frame, value)


def _tests(node: ast.ListComp | ast.GeneratorExp) -> Iterator[ast.expr]:
    return (test for generator in node.generators for test in generator.ifs)


def _reads_memory(value: Value) -> bool:
    if isinstance(value, Items):
        return any(map(_reads_memory, value.items))
    if isinstance(value, (Static, Closure)):
        return False
    if isinstance(value, Chosen):
        return _reads_memory(value.inside)
    return any(isinstance(e, Load) for e in expressions(value))


def _values(
    frame: Frame, node: ast.ListComp | ast.GeneratorExp, depth: int, iterable: Value
) -> Iterator[Value]:
    generator = node.generators[depth]
    for item in static_items(iterable):
        scope: dict[str, Value] = {}
        _bind(frame, scope, generator.target, item)
        frame.scopes.append(scope)
        try:
            if all(_holds(frame, test) for test in generator.ifs):
                if depth + 1 == len(node.generators):
                    value = frame.value(node.elt)
                    _check_own(frame, value, scope)
                    yield value
                else:
                    inner = _iterated(frame, node, node.generators[depth + 1].iter)
                    yield from _values(frame, node, depth + 1, inner)
        finally:
            frame.scopes.remove(scope)


def static_items(iterable: Value) -> tuple[Value, ...]:
    """The items of a tuple, or the numbers of a range that is known."""
    if isinstance(iterable, Items):
        return iterable.items
    if isinstance(iterable, Static) and isinstance(iterable.value, range):
        span = iterable.span
        check_count(length_of(iterable.value), span)
        return tuple(integer(i, span) for i in iterable.value)
    fail(
        "constant-needed",
        Label(iterable.span, f"the length of {shown(iterable)}"),
        help="this takes a tuple, or a range with literal bounds; for an array write a loop, "
        "`for x in a: …`",
    )


def length_of(numbers: range) -> int:
    """``len`` of any range: Python's has 63 bits."""
    return (numbers[-1] - numbers[0]) // numbers.step + 1 if numbers else 0


def check_count(count: int, span: Span) -> None:
    if count > _MOST:
        fail(
            "constant-needed",
            Label(span, f"{count} items"),
            help="a tuple or comprehension is written out item by item: use a loop for so many",
        )


def _check_own(frame: Frame, value: Value, scope: dict[str, Value]) -> None:
    """A function reads its variables when it is called: here after the last item."""
    if isinstance(value, Closure):
        own = [name.id for name in value.function.captured if name.id in scope]
        if own:
            fail(
                "nested-function",
                Label(value.span, f"this reads `{own[0]}` after the comprehension has ended"),
                help=f"give it the value of now as a default: lambda …, {own[0]}={own[0]}: …",
            )


def _holds(frame: Frame, test: ast.expr) -> bool:
    known = condition(frame, test)
    if not isinstance(known, Const):
        fail(
            "constant-needed",
            Label(frame.span(test), "whether an item is taken"),
            help="the length must be known: choose the value instead, `x if … else 0`",
        )
    return bool(known.value)


def _bind(frame: Frame, scope: dict[str, Value], target: ast.expr, item: Value) -> None:
    match target:
        case ast.Name(id=name):
            scope[name] = item
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            parts = static_items(item)
            if len(parts) != len(targets):
                fail(
                    "unpack",
                    Label(frame.span(target), replacements.amount(len(targets), "name", "names")),
                    Label(item.span, replacements.amount(len(parts), "value", "values")),
                    help="write a name for each value",
                )
            for inner, part in zip(targets, parts):
                _bind(frame, scope, inner, part)
        case _:
            fail(
                "assignment-target",
                Label(frame.span(target), "this is no name"),
                help="write names: [… for x, y in t]",
            )
