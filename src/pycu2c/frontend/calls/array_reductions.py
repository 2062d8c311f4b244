"""Reductions of all elements of an array: ``a.sum()``, ``np.max(a)``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DType
from pycu2c.base.types import Scalar
from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.calls.arguments import named_scalar
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.array_views import ArrayValue
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import describe, is_number, reject, require_number
from pycu2c.frontend.values import ArraySelect, StaticObject, Value
from pycu2c.ir.builders import cast, with_cast_span
from pycu2c.ops.intrinsics import array_reductions


def _sum_dtype(element: DType) -> DType:
    if not element.is_integral:
        return element
    is_unsigned = element.is_integer and not element.is_signed
    return dtypes.UINT64 if is_unsigned else dtypes.INT64


def _mean_dtype(element: DType) -> DType:
    return dtypes.FLOAT64 if element.is_integral else element


_RESULT_DTYPES: dict[str, Callable[[DType], DType]] = {
    **dict.fromkeys(("sum", "prod", "nansum", "nanprod"), _sum_dtype),
    **dict.fromkeys(("mean", "nanmean", "var", "std", "nanvar", "nanstd"), _mean_dtype),
}
"""NumPy's rules for the types of results, of functions with the argument ``dtype``."""

_WITH_DDOF = ("var", "std", "nanvar", "nanstd")


def _reduce_argument(name: str, context: FunctionContext, node: ast.Call) -> Value:
    """Lower ``np.sum(a)``."""
    span = context.span(node)
    if not node.args:
        fail("argument-count", Label(span, "the array is missing"), hint=f"write np.{name}(a)")
    if len(node.args) > 1:
        _reject_argument(context, node.args[1], name)
    value = context.value(node.args[0])
    if not array_views.has_axes(value):
        is_selection = name in ("max", "min", "amax", "amin") and is_number(value)
        function = name.removeprefix("a") if is_selection else name
        hint = f"write {function}(x, y) for numbers" if is_selection else "pass an array"
        reject(value, "argument-type", hint)
    return _reduce(context, name, value, node)


def reduce_method(
    context: FunctionContext, array: ArrayValue | ArraySelect, node: ast.Call
) -> Value:
    """Lower ``a.sum()``."""
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    if node.args:
        _reject_argument(context, node.args[0], name)
    return _reduce(context, name, array, node)


def _reduce(
    context: FunctionContext, name: str, array: ArrayValue | ArraySelect, node: ast.Call
) -> Value:
    span, element = context.span(node), array_views.array_type(array).dtype
    if element.has_fields and not element.is_complex:
        text, hint = f"these are {describe(array)}", "reduce one field: np.sum(a.x)"
        fail("argument-type", Label(array.span, text), hint=hint)
    rule, function = _RESULT_DTYPES.get(name), array_reductions.REDUCTIONS[name]
    dtype = rule(element) if rule else element
    ddof: list[Value] = []
    for keyword in node.keywords:
        if keyword.arg == "dtype" and rule:
            dtype = named_scalar(context, keyword.value).dtype
        elif keyword.arg == "ddof" and name in _WITH_DDOF:
            ddof = [context.number(keyword.value)]
        else:
            _reject_argument(context, keyword, name)
    if not rule:
        return device_calls.call_library_function(context, function, [array], span)
    wide = StaticObject(Scalar(dtypes.FLOAT32 if dtype.is_half else dtype), span)
    values = [array, wide, *ddof]
    result = device_calls.call_library_function(context, function, values, span)
    if not dtype.is_half:
        return result
    return with_cast_span(cast(require_number(result), Scalar(dtype)), span)


def _reject_argument(context: FunctionContext, node: ast.expr | ast.keyword, name: str) -> NoReturn:
    fail(
        "argument-count",
        Label(context.span(node), "kernels do not support this argument"),
        hint=f"np.{name}(a) combines all elements; for the rows, `for row in a: …`",
    )


FUNCTIONS: dict[object, Callable[[FunctionContext, ast.Call], Value]] = {
    getattr(np, name): partial(_reduce_argument, name) for name in array_reductions.REDUCTIONS
}
"""The reductions of ``numpy``."""

METHODS = dict.fromkeys(array_reductions.METHODS, reduce_method)
"""The reductions that are methods of arrays."""
