"""Device functions with a declared signature: conversion of arguments and results to it.

Recursive functions need one, because their result type must be known before their body is lowered.
Only there annotations count as a signature; other functions are typed for each call.
"""

from __future__ import annotations

from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.source import Source, Span
from pycu2c.base.types import NONE, Array, ParameterType, Scalar, Signature, Tuple
from pycu2c.declarations.signatures import BadSignature, annotated_device_signature
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.composite_values import displayed_type, type_of
from pycu2c.frontend.function_context import (
    Closure,
    StaticObject,
    TupleValue,
    Value,
    describe,
    require_value,
)
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import Expr, Var, View

_RANK = {
    DTypeKind.BOOL: 0,
    DTypeKind.UNSIGNED: 1,
    DTypeKind.SIGNED: 1,
    DTypeKind.FLOAT: 2,
    DTypeKind.COMPLEX: 3,
}


def declared_signature(source: Source) -> Signature | None:
    """Return the declared signature of a device function, or that of its annotations."""
    try:
        found = source.signature or annotated_device_signature(source.python)
    except BadSignature as error:
        fail(
            "signature",
            Label(source.span(source.tree), str(error)),
            hint="write each parameter's type: x: float32, a: float32[:]",
        )
    count = len(parameters(source.tree.args))
    if found is not None and len(found.parameters) != count:
        fail(
            "signature",
            Label(source.span(source.tree), f"{count} parameters"),
            hint=f"the signature has {len(found.parameters)} types",
        )
    return found


def require_signatures(
    cycle: tuple[Source, ...], types: tuple[ParameterType, ...], span: Span
) -> None:
    """Check that the functions of a recursive cycle have signatures; ``span`` closes the cycle."""
    for source in cycle:
        if declared_signature(source) is None:
            _report_no_signature(source, types if source is cycle[0] else (), span)


def _report_no_signature(source: Source, types: tuple[ParameterType, ...], span: Span) -> NoReturn:
    label = Label(span, f"{source.name} calls itself, here or through others")
    if source.python.__code__.co_name != source.name or source.python.__name__ != source.name:
        fail("recursion", label, hint="write it as a @device function, with a signature")
    names = [p.arg for p in parameters(source.tree.args)]
    shown_types = [displayed_type(t) for t in types] if types else ["…"] * len(names)
    written = ", ".join(f"{name}: {kind}" for name, kind in zip(names, shown_types))
    fail("recursion", label, hint=f"annotate it: def {source.name}({written}) -> …")


def report_no_result(source: Source) -> NoReturn:
    """Report a recursive function without a base case."""
    fail(
        "recursion",
        Label(source.span(source.tree), f"the result type of {source.name} depends on itself"),
        hint=f"annotate its result: def {source.name}(…) -> float32",
    )


# ---- values in the types of a signature --------------------------------------------------------


def convert_to_declared(value: Value, wanted: ParameterType) -> Value:
    """Convert a value to a declared type; report a conversion to a lower kind of number."""
    match wanted:
        case Scalar():
            return _number(require_value(value), wanted)
        case Array() if isinstance(value, (Var, View)) and isinstance(value.type, Array):
            return _array(value, wanted)
        case Tuple(items, names) if isinstance(value, TupleValue) and len(items) == len(
            value.items
        ):
            parts = tuple(convert_to_declared(v, kind) for v, kind in zip(value.items, items))
            return TupleValue(parts, value.span, value.names or names)
        case _ if (
            isinstance(value, (StaticObject, TupleValue, Closure)) and type_of(value) == wanted
        ):
            return value
        case _:
            _reject(value, wanted)


def _number(e: Expr, wanted: Scalar) -> Expr:
    own, to = scalar_type(e).dtype, wanted.dtype
    of_parts = own.is_unpromotable or to.is_unpromotable
    if own is not to if of_parts else _RANK[own.kind] > _RANK[to.kind]:
        _reject(e, wanted)
    return e if of_parts else coerce(e, wanted)


def _array(value: Var | View, wanted: Array) -> Expr:
    own = value.type
    if own == wanted:
        return value
    assert isinstance(own, Array)
    if (own.dtype, own.ndim) != (wanted.dtype, wanted.ndim) or own.layout < wanted.layout:
        _reject(value, wanted)
    return array_views.with_array_type(value, wanted)


def _reject(value: Value, wanted: ParameterType) -> NoReturn:
    fail(
        "argument-type",
        Label(
            value.span, f"this is {describe(value)}, the signature has `{displayed_type(wanted)}`"
        ),
        hint="convert it, or change the signature",
    )


def convert_result(value: Value, wanted: ParameterType | None) -> Value:
    """Convert a returned value to the declared result type."""
    if wanted is None:
        return value
    if wanted == NONE:
        fail(
            "return-type",
            Label(value.span, f"this is {describe(value)}"),
            hint="by the signature the function returns nothing",
        )
    return convert_to_declared(value, wanted)
