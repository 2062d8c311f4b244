"""Predicates for kinds of values, their descriptions, and errors for the wrong kind."""

from __future__ import annotations

from types import FunctionType
from typing import NoReturn, TypeGuard

import numpy as np

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Array, Scalar
from pycu2c.frontend import hints
from pycu2c.frontend.values import ArraySelect, Closure, StaticObject, TupleValue, Value
from pycu2c.ir.nodes import Expr, Var, View
from pycu2c.ops.intrinsics.threads import coalesced_groups


def is_number(value: Value) -> TypeGuard[Expr]:
    return isinstance(getattr(value, "type", None), Scalar)


def is_array(value: Value) -> TypeGuard[Var | View]:
    """Return whether a value is one known array."""
    return isinstance(value, (Var, View)) and isinstance(value.type, Array)


def is_vector(value: Value) -> bool:
    """Return whether a value is a vector."""
    if isinstance(value, (StaticObject, TupleValue, Closure)) or not isinstance(value.type, Scalar):
        return False
    return value.type.dtype.is_vector


def is_none(value: Value) -> bool:
    return isinstance(value, StaticObject) and value.value is None


_WEAK_CLASSES: dict[Scalar, type] = {
    WEAK_BOOL: bool,
    WEAK_INT: int,
    WEAK_FLOAT: float,
    WEAK_COMPLEX: complex,
}


def value_class(value: Value) -> object:
    """Return the class that a value has in Python; of a vector, its type."""
    match value:
        case StaticObject():
            return type(value.value)
        case TupleValue():
            return tuple
        case Closure():
            return FunctionType
    value_type = value.type
    if isinstance(value_type, Scalar):
        if value_type.weak:
            return _WEAK_CLASSES[value_type]
        return value_type if value_type.dtype.has_fields else value_type.numpy.type
    if isinstance(value_type, Array):
        return np.ndarray if value_type.ndim else np.void
    report_no_value(value.span)


def describe(value: Value) -> str:
    """Return the description of a value in errors."""
    match value:
        case StaticObject():
            return hints.describe_object(value.value)
        case TupleValue() if value.names == coalesced_groups.CoalescedGroup._fields:
            return "a group of threads"
        case TupleValue():
            return f"a tuple of {len(value.items)}"
        case Closure():
            return f"the function `{value.function.__name__}`"
        case _:
            return f"`{value.type}`"


def reject(value: Value, code: str, hint: str, span: Span | None = None) -> NoReturn:
    """Report a value of a kind that is not supported here."""
    fail(code, Label(span or value.span, f"this is {describe(value)}"), hint=hint)


_READ_CALLS = {"texture": "tex{}D(t, …)", "surface": "surf{}Dread(s, …)"}


def require_number(value: Value, subject: str = "this") -> Expr:
    """Return the value as an expression of a number, or report an error."""
    e = require_value(value, subject)
    assert isinstance(e.type, Scalar)
    handle = e.type.dtype.handle
    if handle is not None:
        fail(
            "type-needed",
            Label(value.span, f"{subject} is a {handle.access} `{e.type}`, not a number"),
            hint="read it: cuda." + _READ_CALLS[handle.access].format(handle.axes),
        )
    if e.type.dtype.is_vector:
        fail(
            "type-needed",
            Label(value.span, f"{subject} is a vector `{e.type}`"),
            hint="vectors have no operators: write it for each component, "
            f"{e.type}(v.x + w.x, …), or take one, v.x",
        )
    return e


def require_value(value: Value, subject: str = "this") -> Expr:
    """Return the value as an expression that a variable can hold: a number or vector."""
    if isinstance(value, (StaticObject, Closure)):
        hint = (
            hints.instead_of_object(value.value)
            if isinstance(value, StaticObject)
            else "call it: f(…)"
        )
        fail(
            "type-needed",
            Label(value.span, f"{subject} is {describe(value)}, not a number"),
            hint=hint,
        )
    if isinstance(value, TupleValue):
        fail(
            "type-needed",
            Label(value.span, f"{subject} is {describe(value)}"),
            hint="take one of its items: t[0]",
        )
    if isinstance(value.type, Array) and not value.type.ndim:
        if not value.type.dtype.fields or value.type.dtype.is_complex:
            fail(
                "type-needed",
                Label(value.span, f"{subject} is an array `{value.type}` without axes"),
                hint=f"write {_element_text(value).replace('[]', '[()]')} for its element",
            )
        fail(
            "type-needed",
            Label(value.span, f"{subject} is a record `{value.type}`"),
            hint=hints.single_field_hint(value),
        )
    if isinstance(value, ArraySelect) or isinstance(value.type, Array):
        fail(
            "type-needed",
            Label(value.span, f"{subject} is an array `{value.type}`"),
            hint=f"index it: a kernel works on one element at a time, {_element_text(value)}",
        )
    if not isinstance(value.type, Scalar):
        report_no_value(value.span)
    return value


def _element_text(value: Expr | ArraySelect) -> str:
    """Return ``a[i]`` with an index for each axis of the array."""
    whole = value.array if isinstance(value, View) else value
    name = whole.name if isinstance(whole, Var) else "a"
    axes = whole.type.ndim if isinstance(whole.type, Array) else 1
    axes_note = f"; {name} has {axes} axes" if axes > 1 else ""
    index_names = ("i", "j", "k", "l") if axes <= 4 else ("i", "…")
    return f"{name}[{', '.join(index_names[:axes])}]{axes_note}"


def report_no_value(span: Span) -> NoReturn:
    """Report that a call without a result is used as a value."""
    fail(
        "type-needed",
        Label(span, "this call returns nothing"),
        hint="end the function with `return …`; a call without a result is a statement",
    )
