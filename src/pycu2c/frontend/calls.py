"""Calls in a kernel: Python's own functions, conversions, intrinsics, device functions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pycu2c import dtypes
from pycu2c.diagnostics import Label, fail
from pycu2c.frontend import groups, ufuncs, views
from pycu2c.frontend.array_ufuncs import array_ufunc, ufunc_with_out
from pycu2c.frontend.branches import each
from pycu2c.frontend.forms import FORMS
from pycu2c.frontend.frame import (
    Chosen,
    Closure,
    Frame,
    Static,
    Value,
    is_array,
    is_number,
    shown,
)
from pycu2c.frontend.functions import call_function
from pycu2c.frontend.given_arguments import arguments, values, written_out
from pycu2c.frontend.groups import call_method, is_found_group
from pycu2c.frontend.intrinsic_calls import intrinsic_call
from pycu2c.frontend.number_methods import called
from pycu2c.frontend.operations import coerce
from pycu2c.frontend.python_functions import BUILTINS, abs_of, named_tuple
from pycu2c.frontend.reshaping import from_buffer, raveled, reshaped
from pycu2c.frontend.typed_calls import typed_call
from pycu2c.frontend.vectors import made
from pycu2c.intrinsics.dtype_names import scalar_named
from pycu2c.intrinsics.integers import FOLDING
from pycu2c.intrinsics.math import longer_form
from pycu2c.intrinsics.numba_names import is_from_buffer
from pycu2c.intrinsics.number_methods import NUMBER_METHODS, has_method
from pycu2c.intrinsics.operator_names import operator_named
from pycu2c.intrinsics.registry import Intrinsic, bound_to
from pycu2c.ir.construct import cast, scalar_type, standing_at, truth
from pycu2c.ir.nodes import Expr
from pycu2c.operators import Operator
from pycu2c.types import Scalar
from pycu2c.values import is_named_tuple


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
    ufunc = ufunc_with_out(frame, value, node)
    if ufunc is not None:
        return array_ufunc(frame, ufunc, node, lambda one: call(frame, one))
    if _is_builtin(value):
        return BUILTINS[value](frame, node)
    if is_from_buffer(value):
        return from_buffer(frame, node)
    row = bound_to(value)
    if row is not None:
        return _intrinsic(frame, row, node)
    operator = operator_named(value)
    if operator is not None:
        names = ("a", "b") if isinstance(operator, Operator) else ("x",)
        made = written_out(frame, node, names, ast.unparse(node.func))
        return ufuncs.by_operator(frame, operator, made, frame.span(node))
    if is_named_tuple(value):
        return named_tuple(frame, value, node)
    scalar = scalar_named(value)
    if scalar is not None:
        return _conversion(frame, scalar, node)
    return call_function(frame, callee, node)


def _intrinsic(frame: Frame, row: Intrinsic, node: ast.Call) -> Value:
    """A call of a row of the registry."""
    if row.name in ufuncs.MADE_OF_OPERATORS:
        names = tuple(name for name, _ in row.parameters)
        made = written_out(frame, node, names, row.name)
        return ufuncs.MADE_OF_OPERATORS[row.name](frame, made, frame.span(node))
    if row.name in FORMS:
        return FORMS[row.name](frame, row, node)
    if row.stands_for:
        return typed_call(frame, row, node)
    if row.name in FOLDING and len(node.args) == 1:
        return abs_of(frame, node, is_float=row.result == "F")
    if row.name in FOLDING and len(node.args) > 2:
        return call(frame, _nested(node))
    row = longer_form(row, len(node.args) + len(node.keywords))
    names = tuple(name for name, _ in row.parameters)
    given = values(frame, node, names, row.name, row.defaults)
    return intrinsic_call(frame, row, given, node)


def _method(frame: Frame, node: ast.Call) -> Value | None:
    """``z.conjugate()``: a call on a value of the kernel; None if the owner is known."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
        return None
    owner = frame.value(node.func.value)
    if is_found_group(owner):
        return call_method(frame, owner, node.func.attr, node)
    method = _OF_ARRAYS.get(node.func.attr)
    if method is not None and is_array(owner):
        return method(frame, owner, node)
    if method is not None and isinstance(owner, Chosen):
        return each(frame, owner, lambda array: method(frame, array, node))
    if is_number(owner) and has_method(scalar_type(owner), node.func.attr):
        return called(frame, owner, node)
    return None


_OF_ARRAYS: dict[str, Callable[[Frame, views.ArrayValue, ast.Call], Value]] = {
    "reshape": reshaped,
    "ravel": raveled,
}
_METHODS = (*NUMBER_METHODS, *_OF_ARRAYS, *groups.METHODS)


def _is_builtin(value: object) -> bool:
    try:
        return value in BUILTINS
    except TypeError:  # not hashable
        return False


def _nested(node: ast.Call) -> ast.Call:
    """``hypot(x, y, z)`` -> ``hypot(hypot(x, y), z)``."""
    inner = ast.copy_location(ast.Call(node.func, node.args[:-1], []), node)
    return ast.copy_location(ast.Call(node.func, [inner, node.args[-1]], node.keywords), node)


def _conversion(frame: Frame, scalar: Scalar, node: ast.Call) -> Expr:
    if scalar.dtype.is_vector:
        return made(frame, scalar, node)
    operand = frame.number(arguments(frame, node, ("x",), str(scalar))[0])
    if scalar.dtype is dtypes.BOOL:
        return cast(truth(operand), scalar)
    return standing_at(coerce(operand, scalar), frame.span(node))
