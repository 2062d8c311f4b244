"""Python built-ins in a kernel: conversions, ``min``, ``len``, ``sum``, ``zip``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar
from pycu2c.frontend.calls import ufuncs
from pycu2c.frontend.calls.arguments import argument_nodes, argument_values, require_constant_int
from pycu2c.frontend.evaluation_order import (
    evaluate_in_order,
    materialize,
    materialize_effects,
    may_have_effects,
)
from pycu2c.frontend.expressions import array_views, comprehensions
from pycu2c.frontend.expressions.arithmetic import binary, coerce, require_integer, unary
from pycu2c.frontend.expressions.comparisons import compare_values, short_circuit
from pycu2c.frontend.expressions.conditional import truth_of
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.statements import branches
from pycu2c.frontend.statements.printing import print_call
from pycu2c.frontend.value_checks import (
    is_array,
    is_number,
    reject,
    require_number,
    require_value,
    value_class,
)
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.builders import (
    cast,
    const,
    constant_value,
    integer,
    logical,
    scalar_type,
    with_cast_span,
)
from pycu2c.ir.nodes import Apply, Const, Expr, LogicalOp, Pack
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.names.loop_hints import literal_unroll
from pycu2c.ops.operators import ADD, FLOORDIV, MOD, POS, POW

# ---- Python's own functions --------------------------------------------------------------------


def _only_number(context: FunctionContext, node: ast.Call, function: str) -> Expr:
    return context.number(argument_nodes(context, node, ("x",), function)[0])


def _int(context: FunctionContext, node: ast.Call) -> Expr:
    return cast(real_number(_only_number(context, node, "int")), WEAK_INT)


def _index(context: FunctionContext, node: ast.Call) -> Expr:
    """Lower ``operator.index(n)``, which takes integers."""
    return cast(require_integer(_only_number(context, node, "operator.index")), WEAK_INT)


def _float(context: FunctionContext, node: ast.Call) -> Expr:
    (argument,) = argument_nodes(context, node, ("x",), "float")
    value = context.value(argument)
    if isinstance(value, StaticObject) and isinstance(value.value, str):
        return const(_parse_float(context, argument, value.value), context.span(node), WEAK_FLOAT)
    return with_cast_span(cast(real_number(require_number(value)), WEAK_FLOAT), context.span(node))


def _parse_float(context: FunctionContext, node: ast.expr, text: str) -> float:
    """Return the value of ``float("inf")``."""
    try:
        return float(text)
    except ValueError:
        fail(
            "argument-type",
            Label(context.span(node), "this text is not a number"),
            hint='write a number, "inf" or "nan"',
        )


def real_number(e: Expr) -> Expr:
    """Return a number that is not complex, or report an error."""
    if scalar_type(e).dtype.is_complex:
        fail(
            "operand-type",
            Label(e.span, f"this is `{e.type}`"),
            hint="take its real part, z.real, or abs(z)",
        )
    return e


def _complex(context: FunctionContext, node: ast.Call) -> Expr:
    """Lower ``complex(re, im)``."""
    names = ("real", "imag")[: max(len(node.args) + len(node.keywords), 1)]
    arguments = [require_number(v) for v in argument_values(context, node, names, "complex")]
    if len(arguments) == 1:
        return cast(arguments[0], WEAK_COMPLEX)
    parts = tuple(cast(real_number(e), WEAK_FLOAT) for e in arguments)
    return Pack(parts, WEAK_COMPLEX, context.span(node))


def _literal_unroll(context: FunctionContext, node: ast.Call) -> Value:
    """Lower ``literal_unroll(t)`` of numba: the tuple itself, over which loops are unrolled."""
    return context.value(argument_nodes(context, node, ("container",), "literal_unroll")[0])


def _bool(context: FunctionContext, node: ast.Call) -> Expr:
    return truth_of(context.value(argument_nodes(context, node, ("x",), "bool")[0]))


def _abs(context: FunctionContext, node: ast.Call) -> Expr:
    operand = _only_number(context, node, "abs")
    operand_type = scalar_type(operand)
    if operand_type.dtype.is_complex:
        real_type = Scalar(operand_type.dtype.real, operand_type.weak)
        return Apply(REGISTRY["complex.abs"], (operand,), real_type, context.span(node))
    if operand_type == WEAK_BOOL:
        operand = unary(POS, operand, context.span(node))
    elif not (operand_type.dtype.is_float or operand_type.dtype.is_signed):
        return operand
    if isinstance(operand, Const):
        number = constant_value(operand)  # a Python int is exact; abs of the least int8 wraps
        value = abs(number) if type(number) is int else REGISTRY["abs"].reference(number)
        return const(value, operand.span, operand.type)
    return ufuncs.apply_intrinsic(
        REGISTRY["abs"], [operand], scalar_type(operand), context.span(node)
    )


def abs_of_argument(context: FunctionContext, node: ast.Call, *, is_float: bool) -> Expr:
    """Lower ``math.hypot(x)`` or ``math.gcd(n)`` of one number."""
    value = _abs(context, node)
    if is_float and scalar_type(value).dtype.is_integral:
        return cast(value, WEAK_FLOAT)
    return value


def _pow(context: FunctionContext, node: ast.Call) -> Expr:
    base, exponent = map(require_number, argument_values(context, node, ("base", "exp"), "pow"))
    return binary(context, POW, base, exponent, context.span(node))


def _round(context: FunctionContext, node: ast.Call) -> Expr:
    if len(node.args) + len(node.keywords) > 1:
        arguments = [
            require_number(v)
            for v in argument_values(context, node, ("number", "ndigits"), "round")
        ]
        return _round_to_digits(context, arguments, context.span(node))
    operand = _only_number(context, node, "round")
    if not scalar_type(operand).dtype.is_float:
        return cast(real_number(operand), WEAK_INT)
    intrinsic = REGISTRY["round"]
    wide = ufuncs.compute_type(intrinsic, scalar_type(operand))
    return Apply(intrinsic, (cast(operand, wide),), WEAK_INT, context.span(node))


def _round_to_digits(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    """Lower ``round(x, digits)``: of a Python float as Python does, else as ``np.round`` does."""
    if scalar_type(operands[0]) != WEAK_FLOAT:
        return ufuncs.rounded(context, operands, span)
    arguments = (operands[0], require_integer(operands[1]))
    return Apply(REGISTRY["round_decimal"], arguments, WEAK_FLOAT, span)


def _len(context: FunctionContext, node: ast.Call) -> Expr:
    value = context.value(argument_nodes(context, node, ("array",), "len")[0])
    if isinstance(value, TupleValue):
        materialize_effects(context, value)
        return Const(len(value.items), WEAK_INT, context.span(node))
    if isinstance(value, StaticObject) and isinstance(value.value, (str, range)):
        items = value.value
        count = comprehensions.range_length(items) if isinstance(items, range) else len(items)
        return Const(count, WEAK_INT, context.span(node))
    if array_views.has_axes(value):
        span = context.span(node)
        return require_number(
            branches.for_each_array(context, value, lambda a: array_views.length(a, 0, span))
        )
    reject(value, "argument-type", "len() takes an array or a tuple")


def _min_or_max(name: str, context: FunctionContext, node: ast.Call) -> Value:
    if node.keywords:
        fail(
            "argument-count",
            Label(context.span(node.keywords[0]), f"{name}() takes no keyword arguments here"),
            hint=f"compare in a loop, or write {name}(a, b) of the numbers",
        )
    arguments = evaluate_in_order(context, node.args)
    is_one_number = len(arguments) == 1 and is_number(arguments[0])
    is_iterable = len(arguments) == 1 and not is_one_number
    values = list(comprehensions.static_items(arguments[0])) if is_iterable else arguments
    if is_one_number or not values:
        subject = "one number" if is_one_number else "nothing"
        fail(
            "argument-count",
            Label(context.span(node), f"{name}() of {subject}"),
            hint=f"write {name}(a, b), or {name}() of a tuple that has items",
        )
    if all(isinstance(v, TupleValue) for v in values):
        return _min_or_max_tuple(context, ast.Lt if name == "min" else ast.Gt, values, node)
    numbers = [require_number(v) for v in values]
    common = ufuncs.common_type(numbers)
    constants = [int(e.value) for e in numbers if isinstance(e, Const) and e.type == WEAK_INT]
    if len(constants) == len(numbers):
        return integer(min(constants) if name == "min" else max(constants), context.span(node))
    result = coerce(numbers[0], common)
    for e in numbers[1:]:
        result = ufuncs.apply_intrinsic(REGISTRY[name], [result, e], common, context.span(node))
    return result


def _min_or_max_tuple(
    context: FunctionContext, comparison: type[ast.Lt | ast.Gt], values: list[Value], node: ast.Call
) -> Value:
    """Lower ``max((x, i), (y, j))``; of equal tuples the first is the result."""
    span = context.span(node)
    result, *others = (materialize(context, value, "item") for value in values)
    for other in others:
        test = compare_values(context, comparison, other, result, span)
        if isinstance(test, Const):
            result = other if test.value else result
        else:
            result = branches.value_of_branches(context, test, span, (other, []), (result, []))
    return result


def _range(context: FunctionContext, node: ast.Call) -> Value:
    """Return a constant range; ``for`` loops lower computed ranges."""
    bounds = [require_number(value) for value in evaluate_in_order(context, node.args)]
    constants = [int(b.value) for b in bounds if isinstance(b, Const) and b.type.dtype.is_integral]
    if len(constants) != len(bounds) or not constants or 0 in constants[2:]:
        fail(
            "call",
            Label(context.span(node), "range() with computed bounds is only valid in a for loop"),
            hint="write: for i in range(n):",
        )
    return StaticObject(range(*constants), context.span(node))


# ---- functions of tuples -----------------------------------------------------------------------


def _argument_items(context: FunctionContext, node: ast.Call, function: str) -> list[Value]:
    (argument,) = argument_nodes(context, node, ("iterable",), function)
    return list(comprehensions.static_items(materialize_effects(context, context.value(argument))))


def _tuple(context: FunctionContext, node: ast.Call) -> Value:
    if not node.args:
        return TupleValue((), context.span(node))
    return TupleValue(tuple(_argument_items(context, node, "tuple")), context.span(node))


def _sum(context: FunctionContext, node: ast.Call) -> Value:
    names = ("iterable", "start") if len(node.args) + len(node.keywords) > 1 else ("iterable",)
    arguments = argument_values(context, node, names, "sum")
    if any(map(may_have_effects, arguments[1:])):
        arguments = [materialize(context, value, "given") for value in arguments]
    span = context.span(node)
    total: Expr = require_number(arguments[1]) if len(arguments) > 1 else integer(0, span)
    for item in comprehensions.static_items(arguments[0]):
        total = binary(context, ADD, total, require_number(item), span)
    return total


def _all_or_any(op: LogicalOp, context: FunctionContext, node: ast.Call) -> Value:
    span, name = context.span(node), "all" if op is LogicalOp.AND else "any"
    (argument,) = argument_nodes(context, node, ("iterable",), name)
    if isinstance(argument, ast.GeneratorExp):
        items: Iterator[Value] = comprehensions.generate(context, argument)
    else:
        items = iter(_argument_items(context, node, name))
    return _combine_tests(context, op, map(truth_of, items), span)


def _combine_tests(
    context: FunctionContext, op: LogicalOp, tests: Iterator[Expr], span: Span
) -> Expr:
    """Combine tests by ``and`` or ``or``; those after the deciding one are not evaluated."""
    result: Expr = Const(op is LogicalOp.AND, WEAK_BOOL, span)
    while True:
        with context.block() as prefix:
            test = next(tests, None)
        if test is None:
            return result
        if isinstance(result, Const):
            if bool(result.value) is (op is LogicalOp.OR):
                return result
            context.emit_all(prefix)
            result = test
        elif prefix:
            result = short_circuit(context, result, prefix, test, op)
        else:
            result = logical(op, result, test, span)


def _enumerate(context: FunctionContext, node: ast.Call) -> Value:
    names = ("iterable", "start") if len(node.args) + len(node.keywords) > 1 else ("iterable",)
    arguments = argument_nodes(context, node, names, "enumerate")
    start = (
        require_constant_int(context, arguments[1], "the start of enumerate")
        if arguments[1:]
        else 0
    )
    span = context.span(node)
    items = comprehensions.static_items(materialize_effects(context, context.value(arguments[0])))
    pairs = [TupleValue((integer(i, span), item), span) for i, item in enumerate(items, start)]
    return TupleValue(tuple(pairs), span)


def _zip(context: FunctionContext, node: ast.Call) -> Value:
    span = context.span(node)
    arguments = [
        comprehensions.static_items(materialize_effects(context, value))
        for value in evaluate_in_order(context, node.args)
    ]
    return TupleValue(tuple(TupleValue(group, span) for group in zip(*arguments)), span)


def _reversed(context: FunctionContext, node: ast.Call) -> Value:
    return TupleValue(tuple(_argument_items(context, node, "reversed")[::-1]), context.span(node))


def named_tuple(context: FunctionContext, tuple_class: Any, node: ast.Call) -> Value:
    """Lower ``Point(x, y=2)``."""
    fields, defaults = tuple_class._fields, tuple_class._field_defaults
    arguments = {*fields[: len(node.args)], *(keyword.arg for keyword in node.keywords)}
    names = tuple(field for field in fields if field in arguments or field not in defaults)
    arguments_by_name = dict(
        zip(names, argument_values(context, node, names, tuple_class.__name__))
    )
    span = context.span(node)
    items = [
        arguments_by_name[f]
        if f in arguments_by_name
        else name_resolution.static_value(defaults[f], span)
        for f in fields
    ]
    return TupleValue(tuple(items), span, fields)


def _divmod(context: FunctionContext, node: ast.Call) -> Value:
    a, b = argument_values(context, node, ("a", "b"), "divmod")
    left, right = (require_number(materialize(context, v, "value")) for v in (a, b))
    span = context.span(node)
    return TupleValue(tuple(binary(context, op, left, right, span) for op in (FLOORDIV, MOD)), span)


def _isinstance(context: FunctionContext, node: ast.Call) -> Expr:
    """Lower ``isinstance(x, np.ndarray)``, which is known at compile time."""
    value, classes = argument_values(context, node, ("object", "class_or_tuple"), "isinstance")
    candidates = classes.items if isinstance(classes, TupleValue) else (classes,)
    class_of_value = value_class(value)
    is_instance = any(_is_subclass(context, node, class_of_value, c) for c in candidates)
    return const(is_instance, context.span(node), WEAK_BOOL)


def _is_subclass(
    context: FunctionContext, node: ast.Call, class_of_value: object, candidate: Value
) -> bool:
    expected = candidate.value if isinstance(candidate, StaticObject) else None
    if isinstance(expected, Scalar):  # pycu2c.float32 is the class of its numbers
        expected = expected if expected.dtype.has_fields else expected.numpy.type
    if not isinstance(expected, (type, Scalar)):
        fail(
            "argument-type",
            Label(context.span(node.args[1]), "isinstance takes a class or a tuple of classes"),
            hint="write isinstance(x, np.ndarray), isinstance(x, tuple), or np.floating, int, …",
        )
    if isinstance(expected, type) and isinstance(class_of_value, type):
        return issubclass(class_of_value, expected)
    return expected == class_of_value


def _result_type(context: FunctionContext, node: ast.Call) -> Value:
    """Lower ``np.result_type(x)``: the dtype of a number, as of a NumPy scalar, or of a record."""
    (argument,) = argument_nodes(context, node, ("x",), "np.result_type")
    value = context.value(argument)
    if is_array(value) and value_class(value) is np.void:
        return StaticObject(array_views.array_type(value).element, context.span(node))
    value_type = scalar_type(require_value(value))
    return StaticObject(Scalar(value_type.dtype), context.span(node))


BUILTINS: dict[object, Callable[[FunctionContext, ast.Call], Value]] = {
    int: _int,
    operator.index: _index,
    float: _float,
    complex: _complex,
    bool: _bool,
    literal_unroll: _literal_unroll,
    abs: _abs,
    np.abs: _abs,
    round: _round,
    len: _len,
    min: partial(_min_or_max, "min"),
    max: partial(_min_or_max, "max"),
    range: _range,
    tuple: _tuple,
    list: _tuple,
    sum: _sum,
    all: partial(_all_or_any, LogicalOp.AND),
    any: partial(_all_or_any, LogicalOp.OR),
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    divmod: _divmod,
    pow: _pow,
    np.divmod: _divmod,
    print: print_call,
    isinstance: _isinstance,
    np.result_type: _result_type,
}
