"""Comprehensions over iterables of fixed length; they are unrolled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.frontend import hints
from pycu2c.frontend.evaluation_order import collect_in_order, materialize, materialize_effects
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import describe
from pycu2c.frontend.values import Closure, StaticObject, TupleValue, Value, subexpressions
from pycu2c.ir.builders import integer
from pycu2c.ir.nodes import Const, Load

_MAX_ITEMS = 4096  # values of one comprehension, range or repeated tuple


def comprehension(context: FunctionContext, node: ast.ListComp | ast.GeneratorExp) -> TupleValue:
    """Lower ``[f(x) for x in t if g(x)]`` to a tuple."""
    return TupleValue(tuple(collect_in_order(context, generate(context, node))), context.span(node))


def generate(context: FunctionContext, node: ast.ListComp | ast.GeneratorExp) -> Iterator[Value]:
    """Yield the values of a comprehension; each is evaluated when it is requested."""
    first = _evaluate_iterable(context, node, node.generators[0].iter)
    return _generate_values(context, node, 0, first)


def _evaluate_iterable(
    context: FunctionContext, node: ast.ListComp | ast.GeneratorExp, source: ast.expr
) -> Value:
    """Return the iterable of a comprehension, evaluated before the first item."""
    value = context.value(source)
    tests = [test for generator in node.generators for test in generator.ifs]
    nodes = [n for part in (node.elt, *tests) for n in ast.walk(part)]
    may_write = any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in nodes)
    if isinstance(value, TupleValue) and may_write:
        if any(isinstance(e, Load) for e in subexpressions(value)):
            return materialize(context, value, "item")
    return materialize_effects(context, value)


def _generate_values(
    context: FunctionContext, node: ast.ListComp | ast.GeneratorExp, depth: int, iterable: Value
) -> Iterator[Value]:
    generator = node.generators[depth]
    for item in static_items(iterable):
        scope: dict[str, Value] = {}
        _bind_target(context, scope, generator.target, item)
        context.comprehension_scopes.append(scope)
        try:
            if all(_is_true(context, test) for test in generator.ifs):
                if depth + 1 == len(node.generators):
                    value = context.value(node.elt)
                    _check_captures(context, value, scope)
                    yield value
                else:
                    inner = _evaluate_iterable(context, node, node.generators[depth + 1].iter)
                    yield from _generate_values(context, node, depth + 1, inner)
        finally:
            context.comprehension_scopes.remove(scope)


def static_items(iterable: Value) -> tuple[Value, ...]:
    """Return the items of a tuple, or the numbers of a constant range."""
    if isinstance(iterable, TupleValue):
        return iterable.items
    if isinstance(iterable, StaticObject) and isinstance(iterable.value, range):
        span = iterable.span
        check_unrolled_count(range_length(iterable.value), span)
        return tuple(integer(i, span) for i in iterable.value)
    fail(
        "constant-needed",
        Label(iterable.span, f"the length of {describe(iterable)}"),
        hint="use a tuple, or a range with literal bounds; for an array, write a loop, `for x in "
        "a: …`",
    )


def range_length(numbers: range) -> int:
    """Return the length of any range; ``len`` is limited to 63 bits."""
    return (numbers[-1] - numbers[0]) // numbers.step + 1 if numbers else 0


def check_unrolled_count(count: int, span: Span) -> None:
    if count > _MAX_ITEMS:
        fail(
            "constant-needed",
            Label(span, f"{count} items"),
            hint="a tuple or comprehension is unrolled: use a loop for many items",
        )


def _check_captures(context: FunctionContext, value: Value, scope: dict[str, Value]) -> None:
    """Report a closure that reads a target of the comprehension after its end.

    A closure that another function has returned holds values of that function's variables.
    """
    if isinstance(value, Closure) and value.function in context.local_functions.values():
        name = next((n.id for n in value.function.captured if n.id in scope), None)
        if name is not None:
            fail(
                "nested-function",
                Label(value.span, f"this reads `{name}` after the comprehension has ended"),
                hint=f"pass the current value as a default: lambda …, {name}={name}: …",
            )


def _is_true(context: FunctionContext, test: ast.expr) -> bool:
    test_value = condition(context, test)
    if not isinstance(test_value, Const):
        fail(
            "constant-needed",
            Label(context.span(test), "whether an item is taken"),
            hint="the length must be constant: instead of the condition, select the value, `x if "
            "… else 0`",
        )
    return bool(test_value.value)


def _bind_target(
    context: FunctionContext, scope: dict[str, Value], target: ast.expr, item: Value
) -> None:
    match target:
        case ast.Name(id=name):
            scope[name] = item
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            items = static_items(item)
            if len(items) != len(targets):
                fail(
                    "unpack",
                    Label(context.span(target), hints.count_phrase(len(targets), "name")),
                    Label(item.span, hints.count_phrase(len(items), "value")),
                    hint="write a name for each value",
                )
            for inner_target, inner_item in zip(targets, items):
                _bind_target(context, scope, inner_target, inner_item)
        case _:
            fail(
                "assignment-target",
                Label(context.span(target), "this is not a name"),
                hint="write names: [… for x, y in t]",
            )
