"""NumPy ufuncs on whole arrays: ``np.add(a, b, out)``.

The calling thread computes all elements, as in numba.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.source import Span
from pycu2c.base.types import Scalar
from pycu2c.frontend.evaluation_order import evaluate_in_order, materialize_view
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.subscripts import check_writable
from pycu2c.frontend.function_context import (
    FunctionContext,
    StaticObject,
    TupleValue,
    Value,
    describe,
    is_array,
    require_number,
)
from pycu2c.frontend.statements import slice_assignment
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Expr, Store, Var, View


def array_ufunc(
    context: FunctionContext, function: Any, node: ast.Call, call: Callable[[ast.Call], Value]
) -> Value:
    """Emit loops that apply a ufunc to each element; return the output arrays.

    ``call`` lowers the ufunc of numbers.
    """
    name, span = f"np.{function.__name__}", context.span(node)
    _check_arguments(context, function, node, name)
    given = evaluate_in_order(context, [*node.args, *(k.value for k in node.keywords)])
    last = given[function.nin :]
    if node.keywords and isinstance(last[0], TupleValue):
        last = list(last[0].items)
    if len(last) != function.nout:
        _reject(span, f"{len(last)} arrays for results", f"{name} gives {function.nout}")
    views = [_output(value, name) for value in last]
    _check_operands(views, [*views, *given[: function.nin]], span)
    outs = [materialize_view(context, view, "out") for view in views]
    operands = [
        slice_assignment.materialize_source(context, value) for value in given[: function.nin]
    ]

    def one(at: tuple[Var, ...]) -> None:
        items = [
            slice_assignment.element_of(v, at, span) if isinstance(v, View) else v for v in operands
        ]
        result = _of_numbers(context, node, items, call)
        results = result.items if isinstance(result, TupleValue) else (result,)
        for out, value in zip(outs, results, strict=True):
            _store(
                context,
                slice_assignment.element_at(out, at, span),
                require_number(value),
                name,
                span,
            )

    slice_assignment.loop_over_elements(context, outs[0], span, one)
    return TupleValue(tuple(last), span) if function.nout > 1 else last[0]


def _check_arguments(context: FunctionContext, function: Any, node: ast.Call, name: str) -> None:
    others = [k for k in node.keywords if k.arg != "out"]
    if others:
        _reject(context.span(others[0]), "kernels do not have this", f"{name} takes out=")
    most = function.nin + (0 if node.keywords else function.nout)
    if len(node.args) != (most if not node.keywords else function.nin):
        takes = "one operand" if function.nin == 1 else f"{function.nin} operands"
        _reject(context.span(node), f"{len(node.args)} arguments", f"{name} takes {takes}, and out")


def _check_operands(outs: list[View], operands: list[Value], span: Span) -> None:
    for operand in operands:
        if is_array(operand) and array_views.array_type(operand).ndim:
            own = array_views.whole_view(operand, operand.span)
            for out in outs:
                if own is not out:
                    slice_assignment.check_shapes(out, own, span)
                    slice_assignment.check_no_overlap(out, own, span)


def _output(value: Value, name: str) -> View:
    if is_array(value) and array_views.array_type(value).ndim:
        return check_writable(array_views.whole_view(value, value.span), value.span)
    what = "None" if isinstance(value, StaticObject) and value.value is None else describe(value)
    _reject(value.span, f"this is {what}, no array", f"of one number, assign: x = {name}(…)")


def _of_numbers(
    context: FunctionContext, node: ast.Call, items: list[Value], call: Callable[[ast.Call], Value]
) -> Value:
    """Lower the ufunc of one element of each operand, under names that no program has."""
    names = [f"<operand {i}>" for i in range(len(items))]
    operands: list[ast.expr] = [
        ast.copy_location(ast.Name(n, ast.Load()), a) for n, a in zip(names, node.args)
    ]
    context.comprehension_scopes.append(dict(zip(names, items)))
    try:
        return call(ast.copy_location(ast.Call(node.func, operands, []), node))
    finally:
        context.comprehension_scopes.pop()


def _store(context: FunctionContext, place: View, value: Expr, name: str, span: Span) -> None:
    """Store a result; like NumPy, reject a conversion to a lower kind of number."""
    wanted = place.type.element
    own = scalar_type(value)
    if wanted.dtype.has_fields or _rank(own) > _rank(wanted):
        text = f"{name} gives `{own}` here, and the array has `{wanted}`"
        _reject(span, text, "use an array of that type, or convert in a loop")
    context.emit(Store(place.array, place.first, coerce(value, wanted), span, place.path))


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
