"""Iterables of ``for`` loops; an iterable is evaluated once, before the loop.

A tuple is a ``ListedIterable``: its values are known at compile time and the loop is unrolled. A
range or an array is a ``CountedIterable``: its values are computed from a loop counter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.frontend import hints
from pycu2c.frontend.calls.arguments import (
    argument_nodes,
    reject_unpacking,
    require_constant_int,
)
from pycu2c.frontend.evaluation_order import (
    assign_unless_invariant,
    evaluate_in_order,
    materialize,
    may_have_effects,
)
from pycu2c.frontend.expressions import array_views, reshape
from pycu2c.frontend.expressions.arithmetic import binary, integer_hint, product, to_index
from pycu2c.frontend.expressions.subscripts import item_at
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements import branches
from pycu2c.frontend.value_checks import reject, require_number
from pycu2c.frontend.values import ArraySelect, Closure, StaticObject, TupleValue, Value
from pycu2c.ir.builders import integer, scalar_type
from pycu2c.ir.nodes import Apply, Const, Expr, Stmt, Var, View
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.names import loop_hints
from pycu2c.ops.operators import ADD, FLOORDIV, MOD, MUL, SUB


@dataclass(frozen=True, slots=True)
class CountedIterable:
    """A value for each number of ``range(start, stop, step)``."""

    start: Expr
    stop: Expr
    step: Expr
    value: Callable[[Expr], Value]
    is_sequence: bool = True  # whether reversed() accepts it
    unroll: int | None = None  # as in ``ir.For``


@dataclass(frozen=True, slots=True)
class ListedIterable:
    """Values of an unrolled loop.

    With a ``limit``, at most ``limit`` values are used. Then the values include elements of arrays,
    and an iteration reads its element only if it runs.
    """

    values: tuple[Value, ...]
    limit: Expr | None = None
    is_sequence: bool = True


Iterable: TypeAlias = CountedIterable | ListedIterable


def iterable(context: FunctionContext, node: ast.expr) -> Iterable:
    """Return the iterable of ``for x in node``."""
    if isinstance(node, ast.Call) and _may_be_iterable_call(node.func):
        callee = context.value(node.func)
        for function, build in _ITERABLE_CALLS:
            if isinstance(callee, StaticObject) and callee.value is function:
                return build(context, node)
    if isinstance(node, ast.Attribute) and node.attr == "flat":
        owner = context.value(node.value)
        if array_views.has_axes(owner):
            return _iterable_of_elements(context, owner, context.span(node))
    return _iterable_of_value(context, context.value(node))


def _may_be_iterable_call(function: ast.expr) -> bool:
    """Return whether a callee may be ``range``, ``enumerate``, ``zip`` or ``reversed``."""
    is_attribute = isinstance(function, ast.Attribute) and function.attr in _ITERABLE_CALL_NAMES
    return isinstance(function, ast.Name) or is_attribute


def _iterable_of_value(context: FunctionContext, value: Value) -> Iterable:
    span = value.span
    match value:
        case TupleValue():
            return ListedIterable(value.items)
        case StaticObject(value=range() as numbers):
            start, stop, step = (
                integer(n, span) for n in (numbers.start, numbers.stop, numbers.step)
            )
            return CountedIterable(start, stop, step, _counter_value)
        case StaticObject(value=str() as text):
            return ListedIterable(tuple(StaticObject(character, span) for character in text))
        case ArraySelect() if value.type.ndim:
            return _iterable_of_array(context, value)
        case Var() | View() if isinstance(value.type, Array) and value.type.ndim:
            return _iterable_of_array(context, value)
        case _:
            is_object = isinstance(value, (StaticObject, Closure))
            hint = "write a tuple of the values" if is_object else "to count, write range(n)"
            reject(value, "iterable", hint)


def _iterable_of_array(
    context: FunctionContext, array: Var | View | ArraySelect
) -> CountedIterable:
    """Return the iterable of an array's elements, or of its rows."""
    evaluated = materialize(context, array, "rows")
    assert array_views.has_axes(evaluated)
    span = array.span
    count = branches.for_each_array(context, evaluated, lambda a: array_views.length(a, 0, span))

    def item(counter: Expr) -> Value:
        return item_at(context, evaluated, counter, span)

    return CountedIterable(integer(0, span), require_number(count), integer(1, span), item)


def _iterable_of_elements(
    context: FunctionContext, array: Var | View | ArraySelect, span: Span
) -> CountedIterable:
    """Return the iterable of ``a.flat``: the elements in C order."""
    evaluated = materialize(context, array, "elements")
    assert array_views.has_axes(evaluated)
    if array_views.array_type(evaluated).ndim == 1:
        return _iterable_of_array(context, evaluated)
    if not isinstance(evaluated, ArraySelect) and reshape.is_reshapable(evaluated):
        return _iterable_of_array(context, reshape.flattened(context, evaluated, span))
    axes = range(array_views.array_type(evaluated).ndim)
    lengths = [
        assign_unless_invariant(context, _length(context, evaluated, axis, span), "bound")
        for axis in axes
    ]
    size = assign_unless_invariant(context, product(context, lengths, span), "bound")

    def element(counter: Expr) -> Value:
        indices = _indices(context, counter, lengths, span)
        return branches.for_each_array(
            context, evaluated, lambda a: array_views.subscript_value(a, [*indices], span)
        )

    return CountedIterable(integer(0, span), size, integer(1, span), element, is_sequence=False)


def _length(
    context: FunctionContext, array: Var | View | ArraySelect, axis: int, span: Span
) -> Expr:
    return require_number(
        branches.for_each_array(context, array, lambda a: array_views.length(a, axis, span))
    )


def _indices(
    context: FunctionContext, counter: Expr, lengths: list[Expr], span: Span
) -> list[Expr]:
    """Return the indices of an element from its position in C order."""
    indices: list[Expr] = []
    for length in reversed(lengths[1:]):
        indices.insert(0, binary(context, MOD, counter, length, span))
        counter = binary(context, FLOORDIV, counter, length, span)
    return [counter, *indices]


def _counter_value(counter: Expr) -> Value:
    return counter


# ---- range, enumerate, zip, reversed -----------------------------------------------------------


def _range(context: FunctionContext, node: ast.Call) -> Iterable:
    if node.keywords or not 1 <= len(node.args) <= 3:
        fail(
            "argument-count",
            Label(context.span(node), "range takes 1 to 3 numbers"),
            hint="write range(stop), range(start, stop) or range(start, stop, step)",
        )
    values = evaluate_in_order(context, node.args)
    bounds = [_range_bound(require_number(value)) for value in values]
    span = context.span(node)
    start = bounds[0] if len(bounds) > 1 else integer(0, span)
    step = bounds[2] if len(bounds) > 2 else integer(1, span)
    if isinstance(step, Const) and step.value == 0:
        fail(
            "argument-type",
            Label(step.span, "the step of a range must not be 0"),
            hint="write 1, -1 or another step",
        )
    return CountedIterable(
        start, bounds[0] if len(bounds) == 1 else bounds[1], step, _counter_value
    )


def _require_integer(e: Expr, rule: str) -> Expr:
    if not scalar_type(e).dtype.is_integral:
        fail("argument-type", Label(e.span, f"{rule}, this is `{e.type}`"), hint=integer_hint(e))
    return to_index(e)


def _range_bound(e: Expr) -> Expr:
    """Return a bound or step of a range as an index."""
    if isinstance(e, Const) and scalar_type(e).dtype.is_float and e.value != int(e.value):
        fail(
            "argument-type",
            Label(e.span, f"range counts in integers, this is `{e.type}`"),
            hint="count the steps, and multiply: for i in range(n): x = start + i * step",
        )
    return _require_integer(e, "range counts in integers")


def _enumerate(context: FunctionContext, node: ast.Call) -> Iterable:
    span = context.span(node)
    start_nodes = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
    if (
        not node.args
        or len(start_nodes) > 1
        or len(node.args) + len(node.keywords) != 1 + len(start_nodes)
    ):
        fail(
            "argument-count",
            Label(span, hints.count_phrase(len(node.args), "argument")),
            hint="write enumerate(a), or enumerate(a, start)",
        )
    inner = iterable(context, node.args[0])
    start: Expr = integer(0, span)
    for start_node in start_nodes:
        with context.block() as prefix:
            start = _require_integer(context.number(start_node), "enumerate counts in integers")
        inner = _materialize_iterable(context, inner, prefix)
        context.emit_all(prefix)
        start = assign_unless_invariant(context, start, "bound")
    if isinstance(inner, ListedIterable):
        numbers = (_sum(context, start, integer(i, span)) for i in range(len(inner.values)))
        pairs = tuple(TupleValue(pair, span) for pair in zip(numbers, inner.values))
        return ListedIterable(pairs, inner.limit, is_sequence=False)
    counted = _counted_from_zero(context, inner, span)

    def pair_of(counter: Expr) -> Value:
        return TupleValue((_sum(context, start, counter), counted.value(counter)), span)

    return replace(counted, value=pair_of, is_sequence=False)


def _zip(context: FunctionContext, node: ast.Call) -> Iterable:
    span = context.span(node)
    if node.keywords:
        fail(
            "argument-count",
            Label(context.span(node.keywords[0]), "zip stops at the shortest in a kernel"),
            hint="leave it out, and compare the lengths before the launch",
        )
    iterables = _argument_iterables(context, node.args)
    listed = [argument for argument in iterables if isinstance(argument, ListedIterable)]
    if not listed and iterables:
        return _zip_counted(
            [
                _counted_from_zero(context, argument, span)
                for argument in iterables
                if isinstance(argument, CountedIterable)
            ]
        )
    trip_count = min((len(argument.values) for argument in listed), default=0)
    limits = [argument.limit for argument in listed if argument.limit is not None]
    columns: list[tuple[Value, ...]] = []
    for argument in iterables:
        if isinstance(argument, ListedIterable):
            # values paired with elements, or possibly unused, are evaluated now
            is_evaluated_now = len(listed) < len(iterables) or any(
                map(may_have_effects, argument.values)
            )
            columns.append(
                tuple(
                    materialize(context, v, "item") if is_evaluated_now else v
                    for v in argument.values
                )
            )
            continue
        counted = _counted_from_zero(context, argument, span)
        if isinstance(counted.stop, Const):
            trip_count = min(trip_count, max(int(counted.stop.value), 0))
        else:
            limits.append(counted.stop)
        columns.append(tuple(counted.value(integer(i, span)) for i in range(trip_count)))
    values = tuple(TupleValue(group, span) for group in list(zip(*columns))[:trip_count])
    limit = assign_unless_invariant(context, _minimum(limits), "bound") if limits else None
    return ListedIterable(values, limit, is_sequence=False)


def _zip_counted(iterables: list[CountedIterable]) -> CountedIterable:
    first = iterables[0]
    span = first.start.span

    def group(counter: Expr) -> Value:
        return TupleValue(tuple(iterable.value(counter) for iterable in iterables), span)

    stop = _minimum([iterable.stop for iterable in iterables])
    return CountedIterable(first.start, stop, first.step, group, is_sequence=False)


def _reversed(context: FunctionContext, node: ast.Call) -> Iterable:
    span = context.span(node)
    if len(node.args) != 1 or node.keywords:
        fail(
            "argument-count",
            Label(span, hints.count_phrase(len(node.args), "argument")),
            hint="write reversed(a)",
        )
    (inner,) = _argument_iterables(context, node.args)
    if not inner.is_sequence:
        fail(
            "iterable",
            Label(context.span(node.args[0]), "reversed takes a range, a tuple or an array"),
            hint="reverse the arguments: zip(reversed(a), reversed(b))",
        )
    if isinstance(inner, ListedIterable):
        return ListedIterable(inner.values[::-1], is_sequence=False)
    step = _constant_step(inner)
    start, stop = (assign_unless_invariant(context, e, "bound") for e in (inner.start, inner.stop))
    count = _trip_count(context, start, stop, step)
    last_number = _sum(
        context, start, binary(context, MUL, _minus_one(context, count), inner.step, span)
    )
    if step == 1:
        last_number = _minus_one(context, stop)
    number_before_start = binary(context, SUB, start, inner.step, span)
    return CountedIterable(
        last_number, number_before_start, integer(-step, span), inner.value, is_sequence=False
    )


def _unroll(context: FunctionContext, node: ast.Call) -> Iterable:
    """Return the iterable of ``cuda.unroll``; loops over tuples are always unrolled."""
    argument, factor = argument_nodes(
        context, node, ("iterable", "factor"), "unroll", {"factor": 0}
    )
    inner, copies = (
        iterable(context, argument),
        require_constant_int(context, factor, "this factor is computed"),
    )
    if copies < 0:
        label = Label(context.span(factor), f"the factor is {copies}")
        fail("argument-type", label, hint="write the number of copies of the body")
    return inner if isinstance(inner, ListedIterable) else replace(inner, unroll=copies)


def _argument_iterables(context: FunctionContext, nodes: list[ast.expr]) -> list[Iterable]:
    """Return the iterables of a call's arguments; ``*t`` gives one for each item of a tuple."""
    iterables: list[Iterable] = []
    for node in nodes:
        with context.block() as prefix:
            added = _starred_iterables(context, node) if isinstance(node, ast.Starred) else None
            added = [iterable(context, node)] if added is None else added
        iterables = [*(_materialize_iterable(context, i, prefix) for i in iterables), *added]
        context.emit_all(prefix)
    return iterables


def _starred_iterables(context: FunctionContext, node: ast.Starred) -> list[Iterable]:
    value = context.value(node.value)
    if not isinstance(value, TupleValue):
        reject_unpacking(value, context.span(node))
    return [_iterable_of_value(context, item) for item in value.items]


def _materialize_iterable(
    context: FunctionContext, iterable: Iterable, prefix: list[Stmt]
) -> Iterable:
    """Evaluate an iterable before statements that may change it."""
    if not prefix:
        return iterable
    if isinstance(iterable, ListedIterable):
        return replace(
            iterable, values=tuple(materialize(context, v, "item") for v in iterable.values)
        )
    bounds = (iterable.start, iterable.stop, iterable.step)
    start, stop, step = (assign_unless_invariant(context, e, "bound") for e in bounds)
    return replace(iterable, start=start, stop=stop, step=step)


_ITERABLE_CALLS: tuple[tuple[Any, Callable[[FunctionContext, ast.Call], Iterable]], ...] = (
    (range, _range),
    (enumerate, _enumerate),
    (zip, _zip),
    (reversed, _reversed),
    (loop_hints.unroll, _unroll),
)
# prange of numba and pycu2c is range
_ITERABLE_CALL_NAMES = ["prange", *(function.__name__ for function, _ in _ITERABLE_CALLS)]


# ---- counting ----------------------------------------------------------------------------------


def _counted_from_zero(
    context: FunctionContext, iterable: CountedIterable, span: Span
) -> CountedIterable:
    """Return an equal iterable whose counter starts at 0 with step 1."""
    step = _constant_step(iterable)
    if _is_zero(iterable.start) and step == 1:
        return iterable
    start, stop = (
        assign_unless_invariant(context, e, "bound") for e in (iterable.start, iterable.stop)
    )
    count = _trip_count(context, start, stop, step)

    def value(counter: Expr) -> Value:
        distance = binary(context, MUL, counter, iterable.step, span) if step != 1 else counter
        return iterable.value(_sum(context, start, distance))

    return replace(iterable, start=integer(0, span), stop=count, step=integer(1, span), value=value)


def _constant_step(iterable: CountedIterable) -> int:
    if isinstance(iterable.step, Const):
        return int(iterable.step.value)
    fail(
        "constant-needed",
        Label(iterable.step.span, "the step of a range inside of enumerate, zip or reversed"),
        hint="write a literal; for a computed step count with range(n) and multiply",
    )


def _trip_count(context: FunctionContext, start: Expr, stop: Expr, step: int) -> Expr:
    """Return the trip count of a range; negative if it is empty."""
    span = stop.span
    low, high = (start, stop) if step > 0 else (stop, start)
    distance = high if _is_zero(low) else binary(context, SUB, high, low, span)
    size = abs(step)
    if size == 1:
        return distance
    rounded = binary(context, ADD, distance, integer(size - 1, span), span)
    return binary(context, FLOORDIV, rounded, integer(size, span), span)


def _minus_one(context: FunctionContext, e: Expr) -> Expr:
    return binary(context, SUB, e, integer(1, e.span), e.span)


def _sum(context: FunctionContext, a: Expr, b: Expr) -> Expr:
    return b if _is_zero(a) else binary(context, ADD, b, a, b.span)


def _is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 0


def _minimum(lengths: list[Expr]) -> Expr:
    minimum, *rest = lengths
    for other in rest:
        if isinstance(minimum, Const) and isinstance(other, Const):
            minimum = minimum if minimum.value <= other.value else other
        else:
            minimum = Apply(REGISTRY["min"], (minimum, other), WEAK_INT, minimum.span)
    return minimum
