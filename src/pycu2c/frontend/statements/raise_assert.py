"""``raise`` and ``assert``: both end the thread.

A checked kernel first records the exception, like ``print``, and the launch raises it. In other
kernels ``assert`` is not evaluated.
"""

from __future__ import annotations

import ast
from typing import NoReturn, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import FunctionContext, StaticObject
from pycu2c.frontend.statements.printing import texts_of, values_in
from pycu2c.frontend.statements.thread_exit import end_thread
from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import Apply, Const, Expr, If, Print
from pycu2c.ir.print_format import RaisedException
from pycu2c.ops.intrinsics.registry import REGISTRY

Exception_: TypeAlias = type[BaseException] | BaseException


def raise_statement(context: FunctionContext, node: ast.Raise) -> None:
    """Lower ``raise``."""
    assert node.exc is not None
    called = node.exc if isinstance(node.exc, ast.Call) else None
    kind = _exception(context, called.func if called else node.exc)
    given = called.args if called else []
    if context.devices.checked:
        _record_exception(context, kind, given, node)
    else:
        _check_values(context, given)
    end_thread(context, context.span(node))


def assert_statement(context: FunctionContext, node: ast.Assert) -> None:
    """Lower ``assert``; an unchecked kernel only checks it for errors."""
    message = [node.msg] if node.msg is not None else []
    if not context.devices.checked:
        with context.block():
            condition(context, node.test)
            _check_values(context, message)
        return
    test = condition(context, node.test)
    with context.block() as failing:
        _record_exception(context, AssertionError, message, node)
        end_thread(context, context.span(node))
    if isinstance(test, Const) and test.value:
        return
    context.emit(If(negation(test), tuple(failing), (), context.span(node)))


def _exception(context: FunctionContext, node: ast.expr) -> Exception_:
    found = context.value(node)
    kind = found.value if isinstance(found, StaticObject) else None
    if isinstance(kind, BaseException) or (
        isinstance(kind, type) and issubclass(kind, BaseException)
    ):
        return kind
    _no_exception(context, node)


def _no_exception(context: FunctionContext, node: ast.expr) -> NoReturn:
    fail(
        "exceptions",
        Label(context.span(node), "this is no exception"),
        hint="raise one of Python's, such as ValueError",
    )


def _check_values(context: FunctionContext, nodes: list[ast.expr]) -> None:
    """Check the values of a message for errors."""
    with context.block():
        for value in values_in(nodes):
            context.value(value)


def _record_exception(
    context: FunctionContext, kind: Exception_, given: list[ast.expr], node: ast.stmt
) -> None:
    """Emit the statement that records an exception for the host."""
    span = context.span(node)
    texts, values = texts_of(context, given)
    where = f"{context.source.file}:{node.lineno}"
    record = RaisedException(kind, where, tuple(texts))
    context.emit(Print((record,), (*_thread_coordinates(span), *values), span))


def _thread_coordinates(span: Span) -> list[Expr]:
    names = [f"cuda.{name}.{axis}" for name in ("blockIdx", "threadIdx") for axis in "xyz"]
    return [Apply(REGISTRY[name], (), WEAK_INT, span) for name in names]
