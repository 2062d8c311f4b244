"""NumPy functions of numbers that become operators, and ufuncs on whole arrays.

``ops/intrinsics/floats/ufuncs.py`` and ``ops/names/operator_functions.py`` declare what the
functions compute. In ``np.add(a, b, out)`` the calling thread computes all elements, as in numba.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NoReturn

import numpy as np

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar, float32, int8, promote
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize_view
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.arithmetic import (
    binary,
    coerce,
    evaluate_once,
    require_integer,
    select,
    unary,
)
from pycu2c.frontend.expressions.attributes import real_or_imag
from pycu2c.frontend.expressions.bit_views import store_number
from pycu2c.frontend.expressions.subscripts import check_writable
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements import slice_assignment, slice_overlap
from pycu2c.frontend.value_checks import describe, is_array, is_none, require_number
from pycu2c.frontend.values import TupleValue, Value
from pycu2c.ir.builders import cast, const, integer, logical, negation, scalar_type, truth
from pycu2c.ir.nodes import Apply, Const, Expr, LogicalOp, Var, View
from pycu2c.ops.intrinsics.floats.complex import COMPARISONS
from pycu2c.ops.intrinsics.floats.math import IDENTITY_ON_INTEGERS
from pycu2c.ops.intrinsics.floats.ufuncs import float_power_type
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.operators import DIV, EQ, MUL, NE, POW, Operator, UnaryOperator

_BOOL_INTRINSICS = ("min", "max", "numpy.minimum", "numpy.maximum", "numpy.fmin", "numpy.fmax")


def compute_type(intrinsic: Intrinsic, common: Scalar) -> Scalar:
    """Return the type to compute in: float32 for 16-bit floats, int8 for ``max`` of bools."""
    if common.dtype in intrinsic.dtypes:
        return common
    if common.dtype.kind is DTypeKind.BOOL and intrinsic.name in _BOOL_INTRINSICS:
        return int8
    return float32 if common.dtype.is_half else common


def check_accepted(intrinsic: Intrinsic, wide: Scalar, span: Span) -> None:
    """Check that an intrinsic supports ``wide``, the type that a call is computed in."""
    if intrinsic.dtypes and wide.dtype not in intrinsic.dtypes:
        accepted = ", ".join(str(d) for d in intrinsic.dtypes)
        fail(
            "argument-type",
            Label(span, f"{intrinsic.name} does not accept `{wide.dtype}`"),
            hint=f"it accepts {accepted}",
        )


def apply_intrinsic(intrinsic: Intrinsic, operands: list[Expr], common: Scalar, span: Span) -> Expr:
    """Apply an intrinsic whose result has the argument type to numbers converted to ``common``."""
    wide = compute_type(intrinsic, common)
    check_accepted(intrinsic, wide, span)
    arguments = tuple(cast(coerce(e, common), wide) for e in operands)
    return cast(Apply(intrinsic, arguments, wide, span), common)


def common_type(operands: list[Expr]) -> Scalar:
    return reduce(promote, map(scalar_type, operands))


# ---- operators ---------------------------------------------------------------------------------


def apply_operator(
    context: FunctionContext,
    function: object,
    op: Operator | UnaryOperator,
    operands: list[Expr],
    span: Span,
) -> Expr:
    """Lower ``np.add(a, b)``; ``op`` is the operator that ``function`` denotes."""
    if isinstance(op, UnaryOperator):
        return unary(op, operands[0], span)
    if isinstance(function, np.ufunc) and function in COMPARISONS:
        common = common_type(operands)
        if common.dtype.is_complex:
            intrinsic, exchanged = COMPARISONS[function]
            pair = tuple(coerce(e, common) for e in operands)
            return Apply(intrinsic, pair[::-1] if exchanged else pair, WEAK_BOOL, span)
    left, right = operands
    is_negative = isinstance(right, Const) and right.value < 0
    if op is POW and is_negative and common_type(operands).dtype.is_integral:
        fail(
            "operand-type",
            Label(right.span, "numpy has no integer power with a negative exponent"),
            hint="convert the base: np.power(float32(x), -1)",
        )
    return binary(context, op, left, right, span)


# ---- functions made of operators -----------------------------------------------------------------


def _where(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    condition, then, orelse = operands
    return select(truth(condition), then, orelse, span)


def clipped(value: Expr, lower_limit: Expr | None, upper_limit: Expr | None, span: Span) -> Expr:
    """Lower ``np.clip``; a limit may be None."""
    common = common_type([e for e in (value, lower_limit, upper_limit) if e is not None])
    common = WEAK_INT if common == WEAK_BOOL else common
    result = coerce(value, common)
    for name, limit in (("numpy.maximum", lower_limit), ("numpy.minimum", upper_limit)):
        if limit is not None:
            result = apply_intrinsic(REGISTRY[name], [result, limit], common, span)
    return result


def _square(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    return evaluate_once(context, operands[0], lambda x: binary(context, MUL, x, x, span))


def _reciprocal(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    number_type = scalar_type(operands[0])
    if not number_type.dtype.is_integer:
        return binary(context, DIV, integer(1, span), operands[0], span)
    one, zero = const(1, span, number_type), const(0, span, number_type)

    def integer_reciprocal(x: Expr) -> Expr:
        otherwise: Expr = zero
        if number_type.dtype.is_signed:
            minus_one = const(-1, span, number_type)
            otherwise = select(binary(context, EQ, x, minus_one, span), minus_one, zero, span)
        return select(binary(context, EQ, x, one, span), one, otherwise, span)

    return evaluate_once(context, operands[0], integer_reciprocal)


def _float_power(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    left, right = operands
    wide = float_power_type(scalar_type(left), scalar_type(right))
    return binary(context, POW, cast(left, wide), cast(right, wide), span)


def _logical(op: LogicalOp, context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    return logical(op, truth(operands[0]), truth(operands[1]), span)


def _exclusive_or(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    left, right = map(truth, operands)
    if isinstance(right, Const):
        return negation(left) if right.value else left
    return binary(context, NE, left, right, span)


def rounded(context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    """Lower ``np.round(x, digits)`` and ``round(x, digits)``, in the type of ``x``."""
    number_type = scalar_type(operands[0])
    if number_type.dtype.is_complex:
        fail(
            "argument-type",
            Label(operands[0].span, f"this is `{number_type}`"),
            hint="round z.real",
        )
    number_type = WEAK_INT if number_type.dtype.kind is DTypeKind.BOOL else number_type
    digits = require_integer(operands[1]) if len(operands) > 1 else integer(0, span)
    constant_digits = digits.value if isinstance(digits, Const) else None
    if number_type.dtype.is_integral and constant_digits is not None and constant_digits >= 0:
        return cast(operands[0], number_type)
    if constant_digits == 0:
        return apply_intrinsic(REGISTRY["numpy.rint"], [operands[0]], number_type, span)
    intrinsic = REGISTRY["round_digits"]
    wide = compute_type(intrinsic, number_type)
    arguments = (cast(operands[0], wide), digits)
    return cast(Apply(intrinsic, arguments, wide, span), number_type)


def _complex_part(name: str, context: FunctionContext, operands: list[Expr], span: Span) -> Expr:
    return real_or_imag(operands[0], name, span)


OPERATOR_LOWERINGS: dict[str, Callable[[FunctionContext, list[Expr], Span], Expr]] = {
    "numpy.where": _where,
    "cuda.selp": _where,
    "numpy.square": _square,
    "numpy.reciprocal": _reciprocal,
    "numpy.float_power": _float_power,
    "numpy.logical_and": partial(_logical, LogicalOp.AND),
    "numpy.logical_or": partial(_logical, LogicalOp.OR),
    "numpy.logical_xor": _exclusive_or,
    "numpy.round": rounded,
    "numpy.real": partial(_complex_part, "real"),
    "numpy.imag": partial(_complex_part, "imag"),
}


# ---- functions that return some numbers unchanged ----------------------------------------------

CONJUGATE = REGISTRY["complex.conjugate"]
IDENTITY_INTRINSICS = (*IDENTITY_ON_INTEGERS, CONJUGATE)


def unchanged_operand(intrinsic: Intrinsic, operand: Expr) -> Expr | None:
    """Return the operand if a call keeps it, as ``math.trunc(n)`` of an int does; else None."""
    dtype = scalar_type(operand).dtype
    if intrinsic is CONJUGATE and not dtype.is_complex:
        return operand
    if intrinsic is CONJUGATE or not dtype.is_integral:
        return None
    return cast(operand, WEAK_INT) if intrinsic.result == "int" else operand


def array_ufunc(
    context: FunctionContext, function: Any, node: ast.Call, call: Callable[[list[Value]], Value]
) -> Value:
    """Emit loops that apply a ufunc to each element; return the output arrays.

    ``call`` lowers the ufunc of the numbers of one element.
    """
    name, span = f"np.{function.__name__}", context.span(node)
    _check_arguments(context, function, node, name)
    arguments = evaluate_in_order(context, [*node.args, *(k.value for k in node.keywords)])
    inputs, outputs = arguments[: function.nin], arguments[function.nin :]
    if node.keywords and isinstance(outputs[0], TupleValue):
        outputs = list(outputs[0].items)
    if len(outputs) != function.nout:
        _reject(span, f"{len(outputs)} arrays for results", f"{name} has {function.nout} results")
    views = [_output_view(value, name) for value in outputs]
    sources = _check_operands(views, inputs, span)
    shifted = slice_overlap.check_overlap(context, views, list(sources.values()), span)
    targets = [materialize_view(context, view, "out") for view in views]
    operands = [slice_assignment.materialize_source(context, value) for value in inputs]
    evaluated = [*targets[1:], *(v for v in operands if isinstance(v, View) and v.axes)]
    for view, result in zip([*views[1:], *sources.values()], evaluated, strict=True):
        axes = slice_assignment.run_time_axes(views[0], view)
        slice_assignment.raise_unless_shapes_match(context, targets[0], result, axes, span)
    backward: list[bool | Expr] = []
    if shifted is not None:
        operand = operands[list(sources)[shifted[1]]]
        assert isinstance(operand, View)
        backward = slice_overlap.backward_axes(targets[shifted[0]], operand, span)

    def store_element(indices: tuple[Var, ...]) -> None:
        items = [slice_assignment.value_at(v, indices, span) for v in operands]
        result = call(items)
        results = result.items if isinstance(result, TupleValue) else (result,)
        for target, value in zip(targets, results, strict=True):
            element = array_views.element_view(target, indices, span)
            _store(context, element, require_number(value), name, span)

    slice_assignment.loop_over_elements(context, targets[0], span, store_element, backward)
    return TupleValue(tuple(outputs), span) if function.nout > 1 else outputs[0]


def _check_arguments(context: FunctionContext, function: Any, node: ast.Call, name: str) -> None:
    other_keywords = [k for k in node.keywords if k.arg != "out"]
    if other_keywords:
        _reject(
            context.span(other_keywords[0]),
            "kernels do not support this",
            f"{name} takes out=",
        )
    if len(node.args) != function.nin + (0 if node.keywords else function.nout):
        operand_count = "one operand" if function.nin == 1 else f"{function.nin} operands"
        _reject(
            context.span(node),
            f"{len(node.args)} arguments",
            f"{name} takes {operand_count}, and out",
        )


def _check_operands(outputs: list[View], inputs: list[Value], span: Span) -> dict[int, View]:
    """Check the shapes; return the inputs that are arrays, by position."""
    sources = {
        position: array_views.whole_view(value, value.span)
        for position, value in enumerate(inputs)
        if is_array(value) and array_views.array_type(value).ndim
    }
    for view in (*outputs, *sources.values()):
        for output in outputs:
            if view is not output:
                slice_assignment.check_shapes(output, view, span)
    return sources


def _output_view(value: Value, name: str) -> View:
    if is_array(value) and array_views.array_type(value).ndim:
        return check_writable(array_views.whole_view(value, value.span), value.span)
    value_text = "None" if is_none(value) else describe(value)
    _reject(
        value.span, f"this is {value_text}, not an array", f"for one number, write x = {name}(…)"
    )


def _store(context: FunctionContext, target: View, value: Expr, name: str, span: Span) -> None:
    """Store a result; like NumPy, reject a conversion to a lower kind of number."""
    element_type, value_type = target.type.element, scalar_type(value)
    if element_type.dtype.has_fields or _rank(value_type) > _rank(element_type):
        text = f"the result of {name} is `{value_type}` here, and the array has `{element_type}`"
        _reject(span, text, "use an array of that type, or convert in a loop")
    store_number(context, target, value, span)


def _rank(scalar: Scalar) -> int:
    """Return the rank of NumPy's kinds of numbers; Python ints convert to all integers."""
    dtype = scalar.dtype
    if dtype.kind is DTypeKind.BOOL:
        return 0
    if dtype.is_integral:
        return 2 if dtype.is_signed and not scalar.weak else 1
    return 4 if dtype.is_complex else 3


def _reject(span: Span, text: str, hint: str) -> NoReturn:
    fail("argument-type", Label(span, text), hint=hint)
