"""Device functions with a declared signature: conversion of arguments and results to it.

Only for recursive functions, annotations count as a signature; other functions are typed for each
call, as is a recursive one without a signature. Functions with a C body need types of fixed width,
so Python's number types are rejected. A function that also has a Python body is typed like any
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.external_code import stride_name
from pycu2c.base.records import replace
from pycu2c.base.source import Source, Span
from pycu2c.base.types import (
    NONE,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    ParameterType,
    Scalar,
    Signature,
    Tuple,
)
from pycu2c.declarations.signatures import SignatureError, annotated_device_signature
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.composite_values import displayed_type, result_type, type_of
from pycu2c.frontend.function_context import ArgumentTypes
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.frontend.value_checks import describe, reject, require_value
from pycu2c.frontend.values import Closure, StaticObject, TupleValue, Value
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Expr, Function, Parameter, Return, Var, View

_KIND_RANKS = {
    DTypeKind.BOOL: 0,
    DTypeKind.UNSIGNED: 1,
    DTypeKind.SIGNED: 1,
    DTypeKind.FLOAT: 2,
    DTypeKind.COMPLEX: 3,
}


def declared_signature(source: Source) -> Signature | None:
    """Return the declared signature of a device function, or that of its annotations."""
    try:
        signature = source.signature or annotated_device_signature(source.python)
    except SignatureError as error:
        fail(
            "signature",
            Label(source.span(source.tree), str(error)),
            hint="write each parameter's type: x: float32, a: float32[:]",
        )
    count = len(parameters(source.tree.args))
    if signature is not None and len(signature.parameters) != count:
        fail(
            "signature",
            Label(source.span(source.tree), f"{count} parameters"),
            hint=f"the signature has {len(signature.parameters)} types",
        )
    return signature


def require_named(source: Source, span: Span) -> None:
    """Check that a recursive function is no local function; ``span`` is its call of itself."""
    if source.python.__code__.co_name != source.name or source.python.__name__ != source.name:
        label = Label(span, f"{source.name} calls itself, here or through others")
        fail("recursion", label, hint="write it as a @device function")


def report_no_signature(source: Source, types: ArgumentTypes, span: Span) -> NoReturn:
    """Report a recursive function whose calls of itself have ever other types."""
    fail(
        "recursion",
        Label(span, f"{source.name} calls itself with other types each time"),
        hint=f"annotate it: {_annotated(source, types)} -> …",
    )


def _annotated(source: Source, types: ArgumentTypes) -> str:
    """Return the head of the definition of a function with these types."""
    pairs = zip(parameters(source.tree.args), types)
    return f"def {source.name}({', '.join(f'{p.arg}: {displayed_type(t)}' for p, t in pairs)})"


def report_no_result(source: Source) -> NoReturn:
    """Report a recursive function without a base case."""
    fail(
        "recursion",
        Label(source.span(source.tree), f"the result type of {source.name} depends on itself"),
        hint=f"annotate its result: def {source.name}(…) -> float32",
    )


# ---- values in the types of a signature --------------------------------------------------------


def convert_to_declared(value: Value, declared: ParameterType) -> Value:
    """Convert a value to a declared type; report a lossy one, such as float to int."""
    match declared:
        case Scalar():
            return _convert_number(require_value(value), declared)
        case Array() if isinstance(value, (Var, View)) and isinstance(value.type, Array):
            return _convert_array(value, declared)
        case Tuple(items, names) if isinstance(value, TupleValue) and len(items) == len(
            value.items
        ):
            converted = tuple(convert_to_declared(v, t) for v, t in zip(value.items, items))
            return TupleValue(converted, value.span, value.names or names)
        case _ if (
            isinstance(value, (StaticObject, TupleValue, Closure)) and type_of(value) == declared
        ):
            return value
        case _:
            _reject(value, declared)


def _convert_number(e: Expr, declared: Scalar) -> Expr:
    dtype, target = scalar_type(e).dtype, declared.dtype
    must_be_equal = dtype.is_unpromotable or target.is_unpromotable
    if dtype is not target if must_be_equal else _KIND_RANKS[dtype.kind] > _KIND_RANKS[target.kind]:
        _reject(e, declared)
    return e if must_be_equal else coerce(e, declared)


def _convert_array(value: Var | View, declared: Array) -> Expr:
    value_type = value.type
    if value_type == declared:
        return value
    assert isinstance(value_type, Array)
    if (value_type.dtype, value_type.ndim) != (
        declared.dtype,
        declared.ndim,
    ) or value_type.layout < declared.layout:
        _reject(value, declared)
    return replace(array_views.whole_view(value, value.span), type=declared)


def _reject(value: Value, declared: ParameterType) -> NoReturn:
    type_text = displayed_type(declared)
    fail(
        "argument-type",
        Label(value.span, f"this is {describe(value)}, the signature has `{type_text}`"),
        hint="convert it, or change the signature",
    )


def convert_result(value: Value, declared: ParameterType | None) -> Value:
    """Convert a returned value to the declared result type."""
    if declared is None:
        return value
    if declared == NONE:
        reject(value, "return-type", "by the signature the function returns nothing")
    return convert_to_declared(value, declared)


_SIZED_TYPES = {WEAK_INT: "int32 or int64", WEAK_FLOAT: "float32 or float64"}
_SIZED_TYPES[WEAK_COMPLEX] = "complex64 or complex128"


def external_function(
    source: Source, types: ArgumentTypes, signature: Signature | None
) -> Function:
    """Return a function without a Python body; its result type must be declared."""
    if signature is None or signature.result is None:
        fail(
            "inline-c",
            Label(
                source.span(source.tree),
                "the function has no Python body, so its types must be declared",
            ),
            hint=f"annotate it: {_annotated(source, types)} -> float32, or -> None",
        )
    check_c_types(source, types, signature.result)
    c_types = [t for t in types if isinstance(t, Scalar | Array)]
    names = [p.arg for p in parameters(source.tree.args)]
    c_parameters = tuple(Parameter(n, t, i) for i, (n, t) in enumerate(zip(names, c_types)))
    span, result = source.span(source.tree), result_type(signature.result)
    return Function(source.name, source.name, c_parameters, result, (), span, source.external_code)


def check_c_types(
    source: Source, types: ArgumentTypes, result: ParameterType, thread_exits: Sequence[Return] = ()
) -> None:
    """Check the parameter and result types, and that C code uses the strides of its arrays."""
    if thread_exits:
        _reject_c_type(
            "this ends the thread", thread_exits[0].span, "C code cannot: return a status instead"
        )
    for node, parameter_type in zip(parameters(source.tree.args), types):
        span = source.span(node)
        if isinstance(parameter_type, Array):
            _check_array(source, node.arg, parameter_type, span)
        else:
            _check_type(parameter_type, span, "is passed")
    if result != NONE:
        _check_type(result, source.span(source.tree.returns or source.tree), "returns")


def _check_type(c_type: ParameterType, span: Span, verb: str) -> None:
    if not isinstance(c_type, Scalar) or c_type.dtype.kind is DTypeKind.RECORD:
        _reject_c_type(
            f"C {verb} `{displayed_type(c_type)}` here",
            span,
            "C functions take and return numbers and vectors",
        )
    if c_type.weak and c_type != WEAK_BOOL:
        sized_types = _SIZED_TYPES.get(c_type, "a numpy type")
        _reject_c_type(
            f"C {verb} Python's `{c_type}` here", span, f"write a type with a width: {sized_types}"
        )


def _check_array(source: Source, name: str, array_type: Array, span: Span) -> None:
    if array_type.dtype.kind is DTypeKind.RECORD:
        hint = "C functions take arrays of numbers and vectors"
        _reject_c_type(f"C is passed `{array_type}` here", span, hint)
    if array_type.layout == "C" or source.external_code is None:
        return
    for code in source.external_code.codes:
        strides = {stride_name(name, axis) for axis in range(array_type.ndim)}
        if name in code.identifiers and not strides <= code.identifiers:
            axes = ", ".join([":"] * (array_type.ndim - 1) + ["::1"])
            unread = min(strides - code.identifiers)
            _reject_c_type(
                f"`{array_type}` may have gaps, and the C does not read {unread}",
                span,
                f"annotate it {array_type.dtype}[{axes}], which is contiguous, or use "
                f"{' and '.join(sorted(strides))}, counted in elements",
            )


def _reject_c_type(text: str, span: Span, hint: str) -> NoReturn:
    fail("inline-c", Label(span, text), hint=hint)
