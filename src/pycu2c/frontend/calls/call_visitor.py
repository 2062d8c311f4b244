"""Lower calls: Python built-ins, conversions, intrinsics and device functions."""

from __future__ import annotations

import ast
import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.base.values import is_named_tuple
from pycu2c.frontend.calls import (
    array_reductions,
    cooperative_groups,
    device_calls,
    function_makers,
    intrinsic_calls,
    number_methods,
    python_builtins,
    ufuncs,
)
from pycu2c.frontend.calls.arguments import argument_nodes, argument_values, operator_operands
from pycu2c.frontend.calls.special_forms import LOWERINGS, allocate
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.expressions import bit_views, reshape, subscripts, vectors
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_views import (
    ArrayValue,
    load_if_element,
    record_fields,
    whole_view,
)
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements import branches
from pycu2c.frontend.statements.assignments import store_value
from pycu2c.frontend.value_checks import describe, is_array, is_number, reject, value_class
from pycu2c.frontend.values import ArraySelect, Closure, StaticObject, TupleValue, Value
from pycu2c.ir.builders import cast, integer, scalar_type, truth, with_cast_span
from pycu2c.ir.nodes import Const, Expr
from pycu2c.ops.intrinsics.floats import math as math_intrinsics
from pycu2c.ops.intrinsics.integers import integers
from pycu2c.ops.intrinsics.library import device_source
from pycu2c.ops.intrinsics.registry import Intrinsic, bound_to
from pycu2c.ops.names import operator_functions
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.names.numba_names import is_from_buffer
from pycu2c.ops.names.number_methods import NUMBER_METHODS, has_method
from pycu2c.ops.operators import Operator


def _copied(context: FunctionContext, array: ArrayValue, node: ast.Call) -> Value:
    """Lower ``array.copy()``; the shape must be known at compile time."""
    argument_nodes(context, node, (), "copy")
    span = context.span(node)
    if value_class(array) is np.void:
        return materialize(context, _as_tuple(context, array, span), "field")
    view = whole_view(array, span)
    shape = tuple(int(e.value) for e in view.lengths if isinstance(e, Const))
    if len(shape) < len(view.axes) or not view.axes or 0 in shape:
        fail(
            "shape",
            Label(array.span, f"the shape of `{view.type}` is not known at compile time"),
            hint="allocate the maximum, b = cuda.local.array(n, dtype), and assign: b[:m] = a",
        )
    local_type = Array(view.type.dtype, len(shape), "C", MemorySpace.LOCAL, shape)
    local = allocate(context, node, local_type, node)
    store_value(context, whole_view(local, span), view, span)
    return local


def _as_tuple(context: FunctionContext, value: Value, span: Span) -> Value:
    """Return a record as the named tuple of its fields; a field that is an array as a tuple."""
    fields = record_fields(value)
    if fields is None and is_array(value):
        lengths = whole_view(value, span).lengths
        assert isinstance(lengths[0], Const)
        indices = (integer(n, span) for n in range(int(lengths[0].value)))
        items = (subscripts.item_at(context, value, index, span) for index in indices)
        fields = TupleValue(tuple(map(load_if_element, items)), span)
    if fields is None:
        return value
    return replace(fields, items=tuple(_as_tuple(context, item, span) for item in fields.items))


def call(context: FunctionContext, node: ast.Call) -> Value:
    """Return the value of a call."""
    method = _method(context, node)
    if method is not None:
        return method
    callee = function_makers.made_function(context, node.func) or context.value(node.func)
    if isinstance(callee, Closure):
        return device_calls.call_function(context, callee, node)
    if not isinstance(callee, StaticObject):
        fail(
            "call",
            Label(context.span(node.func), f"this is {describe(callee)}, not a function"),
            hint="index with brackets, a[i]; a number cannot be called",
        )
    value = callee.value
    if any(isinstance(a, ast.Starred) for a in node.args) and value is not print:
        if not device_source(value):
            return _call_with_items(context, node)
    ufunc = _ufunc_with_out(context, value, node)
    if ufunc is not None:
        return ufuncs.array_ufunc(
            context,
            ufunc,
            node,
            lambda items: _call_of_values(context, node, list(zip(node.args, items)), []),
        )
    if isinstance(value, Intrinsic):
        return _intrinsic(context, value, node)
    builtin = _builtin(value)
    if builtin is not None:
        return builtin(context, node)
    if is_from_buffer(value):
        return reshape.from_buffer(context, node)
    intrinsic = bound_to(value)
    if intrinsic is not None:
        return _intrinsic(context, intrinsic, node)
    operator = operator_functions.operator_named(value)
    if operator is not None:
        names = ("a", "b") if isinstance(operator, Operator) else ("x",)
        operands = operator_operands(context, node, names, ast.unparse(node.func))
        return ufuncs.apply_operator(context, value, operator, operands, context.span(node))
    if is_named_tuple(value):
        return python_builtins.named_tuple(context, value, node)
    scalar = scalar_named(value)
    if scalar is not None:
        return _conversion(context, scalar, node)
    return device_calls.call_function(context, callee, node)


def _call_with_items(context: FunctionContext, node: ast.Call) -> Value:
    """Lower ``complex(*t)``."""
    display = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    values = context.value(display)
    assert isinstance(values, TupleValue)
    return _call_of_values(context, node, [(node, item) for item in values.items], node.keywords)


def _call_of_values(
    context: FunctionContext,
    node: ast.Call,
    arguments: list[tuple[ast.expr, Value]],
    keywords: list[ast.keyword],
) -> Value:
    """Lower a call of evaluated arguments, each with the node that errors show."""
    scope: dict[str, Value] = {f"<argument {i}>": v for i, (_, v) in enumerate(arguments)}
    names: list[ast.expr] = [
        ast.copy_location(ast.Name(name, ast.Load()), shown)
        for name, (shown, _) in zip(scope, arguments)
    ]
    context.comprehension_scopes.append(scope)
    try:
        return call(context, ast.copy_location(ast.Call(node.func, names, keywords), node))
    finally:
        context.comprehension_scopes.pop()


def _intrinsic(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower the call of an intrinsic."""
    lowering = LOWERINGS.get(intrinsic.name)
    if lowering is not None:
        return lowering(context, intrinsic, node)
    if intrinsic.name in ufuncs.OPERATOR_LOWERINGS:
        names = tuple(name for name, _ in intrinsic.parameters)
        operands = operator_operands(context, node, names, intrinsic.name)
        return ufuncs.OPERATOR_LOWERINGS[intrinsic.name](context, operands, context.span(node))
    if intrinsic.expands_to:
        return intrinsic_calls.expanded_call(context, intrinsic, node)
    if intrinsic.bindings and intrinsic.name in integers.FOLDED_FUNCTIONS and len(node.args) == 1:
        return python_builtins.abs_of_argument(context, node, is_float=intrinsic.result == "F")
    if intrinsic.bindings and intrinsic.name in integers.FOLDED_FUNCTIONS and len(node.args) > 2:
        # hypot(x, y, z) is hypot(hypot(x, y), z)
        inner = ast.copy_location(ast.Call(node.func, node.args[:-1], []), node)
        outer = ast.Call(node.func, [inner, node.args[-1]], node.keywords)
        return call(context, ast.copy_location(outer, node))
    if intrinsic.bindings:
        intrinsic = math_intrinsics.variant_for_arguments(
            intrinsic, len(node.args) + len(node.keywords)
        )
    names = tuple(name for name, _ in intrinsic.parameters)
    arguments = argument_values(context, node, names, intrinsic.name, intrinsic.defaults)
    return intrinsic_calls.intrinsic_call(context, intrinsic, arguments, node)


def _method(context: FunctionContext, node: ast.Call) -> Value | None:
    """Lower a method call on a value of the kernel: ``z.conjugate()``; None for other calls."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
        return None
    owner = context.value(node.func.value)
    if cooperative_groups.is_coalesced_group(owner):
        return cooperative_groups.call_group_method(context, owner, node.func.attr, node)
    method = _ARRAY_METHODS.get(node.func.attr)
    if method is not None and (is_array(owner) or isinstance(owner, ArraySelect)):
        return branches.for_each_array(context, owner, lambda array: method(context, array, node))
    if is_number(owner) and has_method(scalar_type(owner), node.func.attr):
        return number_methods.call_method(context, owner, node)
    return None


_ARRAY_METHODS = {
    "reshape": reshape.reshaped,
    "ravel": reshape.raveled,
    "view": bit_views.array_view,
    "copy": _copied,
    **array_reductions.METHODS,
}
_METHODS = (*NUMBER_METHODS, *_ARRAY_METHODS, *cooperative_groups.GROUP_METHODS)


def _ufunc_with_out(context: FunctionContext, function: object, node: ast.Call) -> Any:
    """Return the ufunc of a call with output arrays, ``np.sin(x, out)``; None for other calls."""
    bindings = function.bindings if isinstance(function, Intrinsic) else (function,)
    ufunc = next((f for f in bindings if isinstance(f, np.ufunc)), None)
    if ufunc is None:
        return None
    if len(node.args) <= ufunc.nin and all(k.arg != "out" for k in node.keywords):
        return None
    owner = context.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
    return None if isinstance(owner, StaticObject) and owner.value is math else ufunc


def _builtin(value: object) -> Callable[[FunctionContext, ast.Call], Value] | None:
    try:
        return _BUILTINS.get(value)
    except TypeError:  # unhashable
        return None


def _numpy_dtype(context: FunctionContext, node: ast.Call) -> Value:
    """Lower ``np.dtype(name)``, a compile-time constant."""
    (argument,) = argument_nodes(context, node, ("dtype",), "numpy.dtype")
    value = context.value(argument)
    name = value.value if isinstance(value, StaticObject) else None
    if isinstance(name, str) and scalar_named(name) is None:
        with contextlib.suppress(TypeError):
            name = np.dtype(name)
    scalar = scalar_named(name)
    if scalar is None:
        reject(
            value,
            "argument-type",
            "numpy.dtype takes a type of numbers, such as np.float32 or 'float32'",
            context.span(argument),
        )
    return StaticObject(scalar, context.span(node))


_BUILTINS = {
    **python_builtins.BUILTINS,
    **array_reductions.FUNCTIONS,
    np.dtype: _numpy_dtype,
}


def _conversion(context: FunctionContext, scalar: Scalar, node: ast.Call) -> Expr:
    if scalar.dtype.is_vector:
        return vectors.construct_vector(context, scalar, node)
    operand = context.number(argument_nodes(context, node, ("x",), str(scalar))[0])
    if scalar.dtype is dtypes.BOOL:
        return cast(truth(operand), scalar)
    return with_cast_span(coerce(operand, scalar), context.span(node))
