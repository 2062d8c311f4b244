"""Python's own functions in a kernel: conversions, ``min``, ``len``, ``sum``, ``zip``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar
from pycu2c.frontend.calls import ufuncs
from pycu2c.frontend.calls.builtin_arguments import arguments, constant_integer, values
from pycu2c.frontend.evaluation_order import acts, in_order, kept, settled
from pycu2c.frontend.expressions import array_views, comprehensions
from pycu2c.frontend.expressions.arithmetic import binary, coerce, unary, whole_number
from pycu2c.frontend.expressions.comparisons import compared, conditional_truth
from pycu2c.frontend.expressions.conditional import truth_of
from pycu2c.frontend.function_context import (
    Chosen,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    is_number,
    number,
    shown,
)
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements import branches
from pycu2c.frontend.statements.printing import print_call
from pycu2c.ir.builders import both, cast, const, integer, number_of, scalar_type, standing_at
from pycu2c.ir.nodes import Apply, Const, Expr, Junction, Pack
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, FLOORDIV, MOD, POS, POW

# ---- Python's own functions --------------------------------------------------------------------


def _single(frame: Frame, node: ast.Call, what: str) -> Expr:
    return frame.number(arguments(frame, node, ("x",), what)[0])


def _int(frame: Frame, node: ast.Call) -> Expr:
    return cast(real_number(_single(frame, node, "int")), WEAK_INT)


def _index(frame: Frame, node: ast.Call) -> Expr:
    """``operator.index(n)``: of whole numbers alone."""
    return cast(whole_number(_single(frame, node, "operator.index")), WEAK_INT)


def _float(frame: Frame, node: ast.Call) -> Expr:
    (given,) = arguments(frame, node, ("x",), "float")
    value = frame.value(given)
    if isinstance(value, Static) and isinstance(value.value, str):
        return const(_of_text(frame, given, value.value), frame.span(node), WEAK_FLOAT)
    return standing_at(cast(real_number(number(value)), WEAK_FLOAT), frame.span(node))


def _of_text(frame: Frame, node: ast.expr, text: str) -> float:
    """``float("inf")``: text that is known is a number that is known."""
    try:
        return float(text)
    except ValueError:
        fail(
            "argument-type",
            Label(frame.span(node), "this text is no number"),
            help='write a number, "inf" or "nan"',
        )


def real_number(e: Expr) -> Expr:
    """A number that is not complex."""
    if scalar_type(e).dtype.is_complex:
        fail(
            "operand-type",
            Label(e.span, f"this is `{e.type}`"),
            help="take its real part, z.real, or abs(z)",
        )
    return e


def _complex(frame: Frame, node: ast.Call) -> Expr:
    """``complex(re, im)``: a Python number."""
    names = ("real", "imag")[: max(len(node.args) + len(node.keywords), 1)]
    given = [number(v) for v in values(frame, node, names, "complex")]
    if len(given) == 1:
        return cast(given[0], WEAK_COMPLEX)
    parts = tuple(cast(real_number(e), WEAK_FLOAT) for e in given)
    return Pack(parts, WEAK_COMPLEX, frame.span(node))


def _bool(frame: Frame, node: ast.Call) -> Expr:
    return truth_of(frame.value(arguments(frame, node, ("x",), "bool")[0]))


def _abs(frame: Frame, node: ast.Call) -> Expr:
    operand = _single(frame, node, "abs")
    if scalar_type(operand).dtype.is_complex:
        own = scalar_type(operand)
        kind = Scalar(own.dtype.real, own.weak)
        return Apply(REGISTRY["complex.abs"], (operand,), kind, frame.span(node))
    if operand.type != WEAK_BOOL:
        own = scalar_type(operand)
        if not (own.dtype.is_float or own.dtype.is_signed):
            return operand
    operand = unary(POS, operand, frame.span(node)) if operand.type == WEAK_BOOL else operand
    if isinstance(operand, Const):
        known = number_of(operand)  # a Python int is exact; abs of the least int8 wraps
        value = abs(known) if type(known) is int else REGISTRY["abs"].reference(known)
        return const(value, operand.span, operand.type)
    return ufuncs.applied(REGISTRY["abs"], [operand], scalar_type(operand), frame.span(node))


def abs_of(frame: Frame, node: ast.Call, *, is_float: bool) -> Expr:
    """``math.hypot(x)``, ``math.gcd(n)``: of one number."""
    value = _abs(frame, node)
    if is_float and scalar_type(value).dtype.is_whole:
        return cast(value, WEAK_FLOAT)
    return value


def _pow(frame: Frame, node: ast.Call) -> Expr:
    base, exponent = map(number, values(frame, node, ("base", "exp"), "pow"))
    return binary(frame, POW, base, exponent, frame.span(node))


def _round(frame: Frame, node: ast.Call) -> Expr:
    if len(node.args) + len(node.keywords) > 1:
        given = [number(v) for v in values(frame, node, ("number", "ndigits"), "round")]
        return ufuncs.rounded(frame, given, frame.span(node))
    operand = _single(frame, node, "round")
    if not scalar_type(operand).dtype.is_float:
        return cast(real_number(operand), WEAK_INT)
    row = REGISTRY["round"]
    wide = ufuncs.computed_in(row, scalar_type(operand))
    return Apply(row, (cast(operand, wide),), WEAK_INT, frame.span(node))


def _len(frame: Frame, node: ast.Call) -> Expr:
    value = frame.value(arguments(frame, node, ("array",), "len")[0])
    if isinstance(value, Items):
        settled(frame, value)
        return Const(len(value.items), WEAK_INT, frame.span(node))
    if isinstance(value, Static) and isinstance(value.value, (str, range)):
        known = value.value
        count = comprehensions.length_of(known) if isinstance(known, range) else len(known)
        return Const(count, WEAK_INT, frame.span(node))
    span = frame.span(node)
    if isinstance(value, Chosen) and value.type.ndim:
        return number(branches.each(frame, value, lambda array: array_views.length(array, 0, span)))
    if is_array(value) and array_views.array_type(value).ndim:
        return array_views.length(value, 0, span)
    fail(
        "argument-type",
        Label(value.span, f"this is {shown(value)}"),
        help="len() is of an array or a tuple",
    )


def _extreme(name: str) -> Callable[[Frame, ast.Call], Value]:
    def build(frame: Frame, node: ast.Call) -> Value:
        if node.keywords:
            fail(
                "argument-count",
                Label(frame.span(node.keywords[0]), f"{name}() has no parameters with names here"),
                help=f"compare in a loop, or write {name}(a, b) of the numbers",
            )
        given = in_order(frame, node.args)
        values = [v for value in given for v in _flattened(value, len(given))]
        alone = len(given) == 1 and is_number(given[0])
        if alone or not values:
            what = "one number" if alone else "nothing"
            fail(
                "argument-count",
                Label(frame.span(node), f"{name}() of {what}"),
                help=f"write {name}(a, b), or {name}() of a tuple that has items",
            )
        if all(isinstance(v, Items) for v in values):
            return _extreme_tuple(frame, ast.Lt if name == "min" else ast.Gt, values, node)
        numbers = [number(v) for v in values]
        common = ufuncs.common_type(numbers)
        known = [int(e.value) for e in numbers if isinstance(e, Const) and e.type == WEAK_INT]
        if len(known) == len(numbers):
            return integer(min(known) if name == "min" else max(known), frame.span(node))
        result = coerce(numbers[0], common)
        for e in numbers[1:]:
            result = ufuncs.applied(REGISTRY[name], [result, e], common, frame.span(node))
        return result

    return build


def _extreme_tuple(
    frame: Frame, better: type[ast.Lt | ast.Gt], values: list[Value], node: ast.Call
) -> Value:
    """``max((x, i), (y, j))``: by the first items that differ; of those alike the first."""
    span = frame.span(node)
    result, *others = (kept(frame, value, "item") for value in values)
    for other in others:
        test = compared(frame, better, other, result, span)
        if isinstance(test, Const):
            result = other if test.value else result
        else:
            result = branches.branched(frame, test, span, (other, []), (result, []))
    return result


def _flattened(value: Value, count: int) -> tuple[Value, ...]:
    alone = count == 1 and not is_number(value)
    return comprehensions.static_items(value) if alone else (value,)


def _range(frame: Frame, node: ast.Call) -> Value:
    """Known while compiling, unless it is in a for loop."""
    bounds = [number(value) for value in in_order(frame, node.args)]
    known = [int(b.value) for b in bounds if isinstance(b, Const) and b.type.dtype.is_whole]
    if len(known) != len(bounds) or not known or 0 in known[2:]:
        fail(
            "call",
            Label(frame.span(node), "range() with bounds that are computed stands in a for loop"),
            help="write: for i in range(n):",
        )
    return Static(range(*known), frame.span(node))


# ---- functions of tuples: their length is known ------------------------------------------------


def _items_given(frame: Frame, node: ast.Call, what: str) -> list[Value]:
    (given,) = arguments(frame, node, ("iterable",), what)
    return list(comprehensions.static_items(settled(frame, frame.value(given))))


def _tuple(frame: Frame, node: ast.Call) -> Value:
    if not node.args:
        return Items((), frame.span(node))
    return Items(tuple(_items_given(frame, node, "tuple")), frame.span(node))


def _sum(frame: Frame, node: ast.Call) -> Value:
    names = ("iterable", "start") if len(node.args) + len(node.keywords) > 1 else ("iterable",)
    given = values(frame, node, names, "sum")
    if any(map(acts, given[1:])):
        given = [kept(frame, value, "given") for value in given]
    total: Expr = number(given[1]) if len(given) > 1 else integer(0, frame.span(node))
    for item in comprehensions.static_items(given[0]):
        total = binary(frame, ADD, total, number(item), frame.span(node))
    return total


def _quantified(op: Junction) -> Callable[[Frame, ast.Call], Value]:
    def build(frame: Frame, node: ast.Call) -> Value:
        span, name = frame.span(node), "all" if op is Junction.AND else "any"
        (given,) = arguments(frame, node, ("iterable",), name)
        if isinstance(given, ast.GeneratorExp):
            return _until(frame, op, map(truth_of, comprehensions.generated(frame, given)), span)
        return _until(frame, op, map(truth_of, _items_given(frame, node, name)), span)

    return build


def _until(frame: Frame, op: Junction, tests: Iterator[Expr], span: Span) -> Expr:
    """Tests joined by ``and`` or ``or``: those after the one that decides are not evaluated."""
    result: Expr = Const(op is Junction.AND, WEAK_BOOL, span)
    while True:
        with frame.block() as written:
            test = next(tests, None)
        if test is None:
            return result
        if isinstance(result, Const):
            if bool(result.value) is (op is Junction.OR):
                return result
            frame.emit_all(written)
            result = test
        elif written:
            result = conditional_truth(frame, result, written, test, op)
        else:
            result = both(op, result, test, span)


def _enumerate(frame: Frame, node: ast.Call) -> Value:
    names = ("iterable", "start") if len(node.args) + len(node.keywords) > 1 else ("iterable",)
    given = arguments(frame, node, names, "enumerate")
    start = constant_integer(frame, given[1], "the start of enumerate") if given[1:] else 0
    span = frame.span(node)
    items = comprehensions.static_items(settled(frame, frame.value(given[0])))
    pairs = [Items((integer(i, span), item), span) for i, item in enumerate(items, start)]
    return Items(tuple(pairs), span)


def _zip(frame: Frame, node: ast.Call) -> Value:
    span = frame.span(node)
    given = [
        comprehensions.static_items(settled(frame, value)) for value in in_order(frame, node.args)
    ]
    return Items(tuple(Items(group, span) for group in zip(*given)), span)


def _reversed(frame: Frame, node: ast.Call) -> Value:
    return Items(tuple(_items_given(frame, node, "reversed")[::-1]), frame.span(node))


def named_tuple(frame: Frame, kind: Any, node: ast.Call) -> Value:
    """``Point(x, y=2)``: a tuple whose items have names."""
    fields, defaults = kind._fields, kind._field_defaults
    given = {*fields[: len(node.args)], *(keyword.arg for keyword in node.keywords)}
    names = tuple(field for field in fields if field in given or field not in defaults)
    found = dict(zip(names, values(frame, node, names, kind.__name__)))
    span = frame.span(node)
    items = [found[f] if f in found else name_resolution.static(defaults[f], span) for f in fields]
    return Items(tuple(items), span, fields)


def _divmod(frame: Frame, node: ast.Call) -> Value:
    a, b = values(frame, node, ("a", "b"), "divmod")
    left, right = (number(kept(frame, v, "value")) for v in (a, b))
    span = frame.span(node)
    return Items(tuple(binary(frame, op, left, right, span) for op in (FLOORDIV, MOD)), span)


BUILTINS: dict[object, Callable[[Frame, ast.Call], Value]] = {
    int: _int,
    operator.index: _index,
    float: _float,
    complex: _complex,
    bool: _bool,
    abs: _abs,
    np.abs: _abs,
    round: _round,
    len: _len,
    min: _extreme("min"),
    max: _extreme("max"),
    range: _range,
    tuple: _tuple,
    list: _tuple,
    sum: _sum,
    all: _quantified(Junction.AND),
    any: _quantified(Junction.OR),
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    divmod: _divmod,
    pow: _pow,
    np.divmod: _divmod,
    print: print_call,
}
