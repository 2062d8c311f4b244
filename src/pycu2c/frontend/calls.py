"""Calls in a kernel: Python's own functions, conversions, intrinsics, device functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import numpy as np

from pycu2c import dtypes
from pycu2c.diagnostics import Label, fail
from pycu2c.frontend import ufuncs, views
from pycu2c.frontend.branches import each
from pycu2c.frontend.choices import truth_of
from pycu2c.frontend.comparisons import conditional_truth
from pycu2c.frontend.comprehensions import generated, static_items
from pycu2c.frontend.cures import amount, instead_of_dtype
from pycu2c.frontend.frame import (
    Chosen,
    Closure,
    Frame,
    Items,
    Static,
    Value,
    is_array,
    is_number,
    number,
    shown,
)
from pycu2c.frontend.functions import call_function
from pycu2c.frontend.intrinsic_calls import intrinsic_call
from pycu2c.frontend.operations import binary, coerce, unary
from pycu2c.frontend.printing import print_call
from pycu2c.frontend.reshaping import raveled, reshaped
from pycu2c.frontend.sequence import acts, has_effect, in_order, kept, settled
from pycu2c.frontend.ufuncs import applied, common_type, computed_in
from pycu2c.frontend.vectors import made
from pycu2c.intrinsics.all import REGISTRY
from pycu2c.intrinsics.dtype_names import scalar_named
from pycu2c.intrinsics.integers import FOLDING
from pycu2c.intrinsics.math import longer_form
from pycu2c.intrinsics.operator_names import operator_named
from pycu2c.intrinsics.registry import Effect, Intrinsic, bound_to
from pycu2c.ir.construct import both, cast, const, integer, number_of, scalar_type, truth
from pycu2c.ir.nodes import Allocate, Apply, Const, Expr, Junction, Pack, Var
from pycu2c.ir.walk import expressions
from pycu2c.nearest import did_you_mean
from pycu2c.operators import ADD, FLOORDIV, MOD, POS, Operator
from pycu2c.source import Span
from pycu2c.types import (
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    Scalar,
    Space,
)


def call(frame: Frame, node: ast.Call) -> Value:
    """The value of a call."""
    method = _method(frame, node)
    if method is not None:
        return method
    callee = frame.value(node.func)
    if isinstance(callee, Closure):
        return call_function(frame, callee, node)
    if not isinstance(callee, Static):
        fail(
            "call",
            Label(frame.span(node.func), f"this is {shown(callee)}, no function"),
            help="index with brackets, a[i]; a number has no parentheses",
        )
    value = callee.value
    row = bound_to(value)
    if row is not None and row.name in ufuncs.MADE_OF_OPERATORS:
        names = tuple(name for name, _ in row.parameters)
        made = _written_out(frame, node, names, row.name)
        return ufuncs.MADE_OF_OPERATORS[row.name](frame, made, frame.span(node))
    if row is not None and row.effect is Effect.FORM:
        return _FORMS[row.name](frame, row, node)
    if row is not None:
        if row.name in FOLDING and len(node.args) > 2:
            return call(frame, _nested(node))
        row = longer_form(row, len(node.args) + len(node.keywords))
        names = tuple(name for name, _ in row.parameters)
        return intrinsic_call(frame, row, _arguments(frame, node, names, row.name), node)
    operator = operator_named(value)
    if operator is not None:
        names = ("a", "b") if isinstance(operator, Operator) else ("x",)
        made = _written_out(frame, node, names, ast.unparse(node.func))
        return ufuncs.by_operator(frame, operator, made, frame.span(node))
    if isinstance(value, type) and value in _BUILTINS:
        return _BUILTINS[value](frame, node)
    if callable(value) and _is_builtin(value):
        return _BUILTINS[value](frame, node)
    scalar = scalar_named(value)
    if scalar is not None:
        return _conversion(frame, scalar, node)
    return call_function(frame, callee, node)


def _method(frame: Frame, node: ast.Call) -> Value | None:
    """``z.conjugate()``: a call on a value of the kernel; None if the owner is known."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
        return None
    owner = frame.value(node.func.value)
    method = _OF_ARRAYS.get(node.func.attr)
    if method is not None and is_array(owner):
        return method(frame, owner, node)
    if method is not None and isinstance(owner, Chosen):
        return each(frame, owner, lambda array: method(frame, array, node))
    if method is not None or not is_number(owner):
        return None
    if not scalar_type(owner).dtype.is_complex:
        return owner
    return Apply(REGISTRY["complex.conjugate"], (owner,), owner.type, frame.span(node))


_OF_ARRAYS: dict[str, Callable[[Frame, views.ArrayValue, ast.Call], Value]] = {
    "reshape": reshaped,
    "ravel": raveled,
}
_METHODS = ("conjugate", "conj", *_OF_ARRAYS)


def _is_builtin(value: object) -> bool:
    try:
        return value in _BUILTINS
    except TypeError:  # not hashable
        return False


# ---- arguments ---------------------------------------------------------------------------------


def _arguments(frame: Frame, node: ast.Call, names: tuple[str, ...], what: str) -> list[ast.expr]:
    """The arguments of a call in the order of the parameters, keywords put in place."""
    given: dict[str, ast.expr] = dict(zip(names, node.args))
    for keyword in node.keywords:
        name = keyword.arg or "**"
        if name not in names or name in given:
            fail(
                "argument-count",
                Label(frame.span(keyword), _no_parameter(what, name, name in names)),
                help=did_you_mean(name, names, f"it takes ({', '.join(names)})"),
            )
        given[name] = keyword.value
    missing = [n for n in names if n not in given]
    count = len(node.args) + len(node.keywords)
    if missing or len(node.args) > len(names):
        fail(
            "argument-count",
            Label(frame.span(node), amount(count, "argument", "arguments")),
            help=f"{what} takes {len(names)}: ({', '.join(names)})",
        )
    return [given[n] for n in names]


def _no_parameter(what: str, name: str, is_given: bool) -> str:
    return f"`{name}` is given twice" if is_given else f"{what} has no parameter `{name}`"


def _nested(node: ast.Call) -> ast.Call:
    """``hypot(x, y, z)`` -> ``hypot(hypot(x, y), z)``."""
    inner = ast.copy_location(ast.Call(node.func, node.args[:-1], []), node)
    return ast.copy_location(ast.Call(node.func, [inner, node.args[-1]], node.keywords), node)


def _written_out(frame: Frame, node: ast.Call, names: tuple[str, ...], what: str) -> list[Expr]:
    """Numbers for a function that is made of operators: what they do besides, all of them do."""
    if what == "numpy.round":
        names = names[: max(len(node.args) + len(node.keywords), 1)]
    given = [number(v) for v in in_order(frame, _arguments(frame, node, names, what))]
    if any(has_effect(e) for argument in given for e in expressions(argument)):
        return [number(kept(frame, e, "value")) for e in given]
    return given


# ---- Python's own functions --------------------------------------------------------------------


def _single(frame: Frame, node: ast.Call, what: str) -> Expr:
    return frame.number(_arguments(frame, node, ("x",), what)[0])


def _int(frame: Frame, node: ast.Call) -> Expr:
    return cast(real_number(_single(frame, node, "int")), WEAK_INT)


def _float(frame: Frame, node: ast.Call) -> Expr:
    (given,) = _arguments(frame, node, ("x",), "float")
    value = frame.value(given)
    if isinstance(value, Static) and isinstance(value.value, str):
        return const(_of_text(frame, given, value.value), frame.span(node), WEAK_FLOAT)
    return cast(real_number(number(value)), WEAK_FLOAT)


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
    given = [number(v) for v in in_order(frame, _arguments(frame, node, names, "complex"))]
    if len(given) == 1:
        return cast(given[0], WEAK_COMPLEX)
    parts = tuple(cast(real_number(e), WEAK_FLOAT) for e in given)
    return Pack(parts, WEAK_COMPLEX, frame.span(node))


def _bool(frame: Frame, node: ast.Call) -> Expr:
    return truth_of(frame.value(_arguments(frame, node, ("x",), "bool")[0]))


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
        value = REGISTRY["abs"].reference(number_of(operand))  # that of the least integer wraps
        return const(value, operand.span, operand.type)
    return applied(REGISTRY["abs"], [operand], scalar_type(operand), frame.span(node))


def _round(frame: Frame, node: ast.Call) -> Expr:
    if len(node.args) + len(node.keywords) > 1:
        nodes = _arguments(frame, node, ("number", "ndigits"), "round")
        given = [number(v) for v in in_order(frame, nodes)]
        return ufuncs.rounded(frame, given, frame.span(node))
    operand = _single(frame, node, "round")
    if not scalar_type(operand).dtype.is_float:
        return cast(real_number(operand), WEAK_INT)
    row = REGISTRY["round"]
    wide = computed_in(row, scalar_type(operand))
    return Apply(row, (cast(operand, wide),), WEAK_INT, frame.span(node))


def _len(frame: Frame, node: ast.Call) -> Expr:
    value = frame.value(_arguments(frame, node, ("array",), "len")[0])
    if isinstance(value, Items):
        settled(frame, value)
        return Const(len(value.items), WEAK_INT, frame.span(node))
    if isinstance(value, Static) and isinstance(value.value, (str, range)):
        return Const(len(value.value), WEAK_INT, frame.span(node))
    span = frame.span(node)
    if isinstance(value, Chosen) and value.type.ndim:
        return number(each(frame, value, lambda array: views.length(array, 0, span)))
    if is_array(value) and views.array_type(value).ndim:
        return views.length(value, 0, span)
    fail(
        "argument-type",
        Label(value.span, f"this is {shown(value)}"),
        help="len() is of an array or a tuple",
    )


def _extreme(name: str) -> Callable[[Frame, ast.Call], Expr]:
    def build(frame: Frame, node: ast.Call) -> Expr:
        if node.keywords:
            fail(
                "argument-count",
                Label(frame.span(node.keywords[0]), f"{name}() has no parameters with names here"),
                help=f"compare in a loop, or write {name}(a, b) of the numbers",
            )
        given = in_order(frame, node.args)
        values = [v for value in given for v in _flattened(value, len(given))]
        if not values:
            fail(
                "argument-count",
                Label(frame.span(node), f"{name}() of nothing"),
                help=f"write {name}(a, b), or {name}() of a tuple that has items",
            )
        numbers = [number(v) for v in values]
        common = common_type(numbers)
        result = coerce(numbers[0], common)
        for e in numbers[1:]:
            result = applied(REGISTRY[name], [result, e], common, frame.span(node))
        return result

    return build


def _flattened(value: Value, count: int) -> tuple[Value, ...]:
    alone = count == 1 and not _is_number(value)
    return static_items(value) if alone else (value,)


def _is_number(value: Value) -> bool:
    return not isinstance(value, (Items, Static, Closure)) and isinstance(value.type, Scalar)


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
    (given,) = _arguments(frame, node, ("iterable",), what)
    return list(static_items(settled(frame, frame.value(given))))


def _tuple(frame: Frame, node: ast.Call) -> Value:
    if not node.args:
        return Items((), frame.span(node))
    return Items(tuple(_items_given(frame, node, "tuple")), frame.span(node))


def _sum(frame: Frame, node: ast.Call) -> Value:
    names = ("iterable", "start") if len(node.args) + len(node.keywords) > 1 else ("iterable",)
    given = in_order(frame, _arguments(frame, node, names, "sum"))
    if any(map(acts, given[1:])):
        given = [kept(frame, value, "given") for value in given]
    total: Expr = number(given[1]) if len(given) > 1 else integer(0, frame.span(node))
    for item in static_items(given[0]):
        total = binary(frame, ADD, total, number(item), frame.span(node))
    return total


def _quantified(op: Junction) -> Callable[[Frame, ast.Call], Value]:
    def build(frame: Frame, node: ast.Call) -> Value:
        span, name = frame.span(node), "all" if op is Junction.AND else "any"
        (given,) = _arguments(frame, node, ("iterable",), name)
        if isinstance(given, ast.GeneratorExp):
            return _until(frame, op, map(truth_of, generated(frame, given)), span)
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
    given = _arguments(frame, node, names, "enumerate")
    start = constant_integer(frame, given[1], "the start of enumerate") if given[1:] else 0
    span = frame.span(node)
    items = static_items(settled(frame, frame.value(given[0])))
    pairs = [Items((integer(i, span), item), span) for i, item in enumerate(items, start)]
    return Items(tuple(pairs), span)


def _zip(frame: Frame, node: ast.Call) -> Value:
    span = frame.span(node)
    given = [static_items(settled(frame, value)) for value in in_order(frame, node.args)]
    return Items(tuple(Items(group, span) for group in zip(*given)), span)


def _reversed(frame: Frame, node: ast.Call) -> Value:
    return Items(tuple(_items_given(frame, node, "reversed")[::-1]), frame.span(node))


def _divmod(frame: Frame, node: ast.Call) -> Value:
    a, b = in_order(frame, _arguments(frame, node, ("a", "b"), "divmod"))
    left, right = (number(kept(frame, v, "value")) for v in (a, b))
    span = frame.span(node)
    return Items(tuple(binary(frame, op, left, right, span) for op in (FLOORDIV, MOD)), span)


_BUILTINS: dict[object, Callable[[Frame, ast.Call], Value]] = {
    int: _int,
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
    np.divmod: _divmod,
    print: print_call,
}


def _conversion(frame: Frame, scalar: Scalar, node: ast.Call) -> Expr:
    if scalar.dtype.is_vector:
        return made(frame, scalar, node)
    operand = frame.number(_arguments(frame, node, ("x",), str(scalar))[0])
    if scalar.dtype is dtypes.BOOL:
        return cast(truth(operand), scalar)
    return coerce(operand, scalar)


# ---- forms -------------------------------------------------------------------------------------


def _coordinates(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """``cuda.grid(ndim)``, ``cuda.gridsize(ndim)``."""
    (given,) = _arguments(frame, node, ("ndim",), row.name)
    ndim = constant_integer(frame, given, f"the number of axes of {row.name}")
    if ndim not in (1, 2, 3):
        fail(
            "argument-type",
            Label(frame.span(given), f"this is {ndim}"),
            help=f"{row.name} takes the number of axes: 1, 2 or 3",
        )
    span = frame.span(node)
    axes = [Apply(REGISTRY[f"{row.name}.{a}"], (), WEAK_INT, span) for a in "xyz"[:ndim]]
    return axes[0] if ndim == 1 else Items(tuple(axes), span)


_MOST_SHARED_BYTES = 227 * 1024


def _allocation(space: Space) -> Callable[[Frame, Intrinsic, ast.Call], Value]:
    def build(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
        shape_node, dtype_node = _arguments(frame, node, ("shape", "dtype"), row.name)
        shape = _shape(frame, shape_node)
        named = frame.value(dtype_node)
        scalar = scalar_named(named.value) if isinstance(named, Static) else None
        if scalar is None or scalar.weak:
            fail(
                "dtype",
                Label(frame.span(dtype_node), f"{shown(named)} names no dtype"),
                help=instead_of_dtype(getattr(named, "value", None)),
            )
        kind = Array(scalar.dtype, len(shape), "C", space, shape)
        size = scalar.dtype.size * int(np.prod(shape, dtype=object))
        if space is Space.SHARED and size > _MOST_SHARED_BYTES:
            fail(
                "shape",
                Label(frame.span(shape_node), f"{size} bytes; a block has {_MOST_SHARED_BYTES}"),
                help="keep one tile at a time in shared memory",
            )
        var = Var(frame.name_for(node, space.value), kind, frame.span(node))
        frame.emit(Allocate(var, frame.span(node)))
        return var

    return build


def _shape(frame: Frame, node: ast.expr) -> tuple[int, ...]:
    value = frame.value(node)
    items = value.items if isinstance(value, Items) else (value,)
    shape = []
    for item in items:
        if not isinstance(item, Const) or item.type.dtype.is_float or item.value < 1:
            here = item.span if isinstance(item, (Const, Static, Items)) else frame.span(node)
            fail(
                "shape",
                Label(here, "not a positive whole number that is known before the launch"),
                help="write a literal, or a global that holds an int",
            )
        shape.append(int(item.value))
    if not 1 <= len(shape) <= 3:
        fail(
            "shape",
            Label(frame.span(node), amount(len(shape), "axis", "axes")),
            help="arrays have 1, 2 or 3 axes",
        )
    return tuple(shape)


_FORMS: dict[str, Callable[[Frame, Intrinsic, ast.Call], Value]] = {
    "cuda.grid": _coordinates,
    "cuda.gridsize": _coordinates,
    "cuda.shared.array": _allocation(Space.SHARED),
    "cuda.local.array": _allocation(Space.LOCAL),
}

# ---- constants ---------------------------------------------------------------------------------


def constant_integer(frame: Frame, node: ast.expr, what: str) -> int:
    """An expression that must be a whole number known when the kernel is compiled."""
    value = frame.value(node)
    if isinstance(value, Const) and value.type.dtype.is_whole:
        return int(value.value)
    fail(
        "constant-needed",
        Label(frame.span(node), what),
        help="use a literal, or a global that holds an int",
    )
