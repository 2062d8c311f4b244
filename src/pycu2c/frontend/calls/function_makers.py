"""Calls of functions that return device functions: ``maker(10)(x)``.

Python runs ``maker(10)`` when the kernel is compiled, so the arguments are compile-time constants.
"""

from __future__ import annotations

import ast
from types import FunctionType

from pycu2c.base.diagnostics import CompileError, Label, fail
from pycu2c.base.source import Span
from pycu2c.frontend.calls.arguments import constant_int
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.value_checks import describe
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.nodes import Const
from pycu2c.ops.intrinsics.library import device_source


def made_function(context: FunctionContext, node: ast.expr) -> StaticObject | None:
    """Return the function that a called expression makes; None for other expressions."""
    if not isinstance(node, ast.Call):
        return None
    callee = context.value(node.func)
    maker = callee.value if isinstance(callee, StaticObject) else None
    if not isinstance(maker, FunctionType) or device_source(maker) is not None:
        return None
    arguments = tuple(_constant(context, a) for a in node.args)
    keywords = {k.arg or "": _constant(context, k.value) for k in node.keywords}
    span, made = context.span(node), context.devices.made_functions
    key = call_key(maker, arguments, keywords)
    if key not in made:
        made[key] = _make(maker, arguments, keywords, span)
    return StaticObject(made[key], span)


def call_key(maker: object, arguments: tuple[object, ...], keywords: dict[str, object]) -> object:
    """Return what equal calls have in common; 1 and 1.0 are equal, but make two functions."""
    return maker, repr(arguments), repr(keywords)


def _make(
    maker: FunctionType, arguments: tuple[object, ...], keywords: dict[str, object], span: Span
) -> object:
    try:
        made = maker(*arguments, **keywords)
    except CompileError:
        raise
    except Exception as error:
        fail(
            "call",
            Label(span, f"this call raises {type(error).__name__}: {error}"),
            hint="a function that makes a device function runs when the kernel is compiled",
        )
    if device_source(made) is None:
        fail(
            "call",
            Label(span, f"this returns a `{type(made).__name__}`, not a device function"),
            hint=f"decorate the function that {maker.__name__} returns with @device",
        )
    return made


def _constant(context: FunctionContext, node: ast.expr) -> object:
    """Return the Python object that an argument stands for."""
    if not isinstance(node, ast.Starred):
        value = context.value(node)
        constant = _python_value(context, value)
        if constant is not None:
            return constant[0]
        evidence = f"this is {describe(value)}"
    else:
        evidence = "this unpacks a tuple"
    fail(
        "constant-needed",
        Label(context.span(node), evidence),
        hint="a function that returns a device function runs when the kernel is compiled: pass it "
        "only constants, and pass variables to the device function",
    )


def _python_value(context: FunctionContext, value: Value) -> tuple[object] | None:
    """Return the object in a tuple of its own; None if it is not known at compile time."""
    match value:
        case StaticObject():
            return (value.value,)
        case Const():
            return (value.value,)
        case TupleValue():
            items = [_python_value(context, item) for item in value.items]
            known = tuple(item[0] for item in items if item is not None)
            return (known,) if len(known) == len(items) else None
        case _:
            integer = constant_int(context, value)
            return None if integer is None else (integer,)
