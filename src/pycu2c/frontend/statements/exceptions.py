"""``raise`` and ``assert``: both end the thread.

A checked kernel first records the exception, like ``print``, and the launch raises it. In other
kernels ``assert`` is not evaluated. To end the thread, a kernel returns. A device function returns
a flag after its value, and the caller returns too if the flag is set.
"""

from __future__ import annotations

import ast
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, ParameterType, Scalar, Tuple, leaf_types
from pycu2c.frontend.expressions.composite_values import pack_result, result_type
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements.printing import printed_expressions, texts_of
from pycu2c.frontend.value_checks import require_number
from pycu2c.frontend.values import StaticObject, TupleValue, Value
from pycu2c.ir.builders import negation, zero
from pycu2c.ir.nodes import Apply, Body, Const, Expr, If, Print, Return, Stmt
from pycu2c.ir.print_format import PrintFormat, RaisedException
from pycu2c.ir.walk import children, map_stmt
from pycu2c.ops.intrinsics.registry import REGISTRY

EXIT_FIELDS = ("<value>", "<ended>")  # no named tuple of a program has such names


def end_thread(context: FunctionContext, span: Span) -> None:
    """Emit the end of the thread."""
    return_statement = Return(None, span)
    if not context.is_kernel:
        context.thread_exits.append(return_statement)
    context.emit(return_statement)


def check_exit_flag(context: FunctionContext, value: Value, span: Span) -> Value:
    """Return the value of a call; end the thread if the callee did."""
    if not isinstance(value, TupleValue) or value.names != EXIT_FIELDS:
        return value
    result, ended = value.items
    with context.block() as exit_statements:
        end_thread(context, span)
    context.emit(If(require_number(ended), tuple(exit_statements), (), span))
    return result


def with_exit_flag(result: ParameterType) -> ParameterType:
    """Return the result type of a function that may end the thread."""
    return Tuple((result, WEAK_BOOL), EXIT_FIELDS)


def return_exit_flag(context: FunctionContext, body: Body, result: ParameterType) -> Body:
    """Add the flag to each return of a function that may end the thread."""
    number_types = [leaf for leaf in leaf_types(result) if isinstance(leaf, Scalar)]
    returned_type = result_type(with_exit_flag(result))

    def with_flag(s: Stmt) -> Body:
        if not isinstance(s, Return):
            return (s,)
        ended = s in context.thread_exits
        numbers = (
            [zero(n, s.span) for n in number_types]
            if ended
            else _returned_numbers(s, len(number_types))
        )
        flag = Const(ended, WEAK_BOOL, s.span)
        return (Return(pack_result([*numbers, flag], returned_type, s.span), s.span),)

    span = context.span(context.source.tree)
    return map_stmt(body if number_types else (*body, Return(None, span)), with_flag)


def _returned_numbers(s: Return, count: int) -> list[Expr]:
    if s.value is None:
        return []
    return [s.value] if count == 1 else list(children(s.value))


RaisedObject: TypeAlias = type[BaseException] | BaseException


def raise_statement(context: FunctionContext, node: ast.Raise) -> None:
    """Lower ``raise``."""
    assert node.exc is not None
    call = node.exc if isinstance(node.exc, ast.Call) else None
    exception = _exception(context, call.func if call else node.exc)
    arguments = call.args if call else []
    if context.devices.options.checked:
        _record_exception(context, exception, arguments, node)
    else:
        _check_values(context, arguments)
    end_thread(context, context.span(node))


def assert_statement(context: FunctionContext, node: ast.Assert) -> None:
    """Lower ``assert``; an unchecked kernel only checks it for errors."""
    message = [node.msg] if node.msg is not None else []
    if not context.devices.options.checked:
        with context.block():
            condition(context, node.test)
            _check_values(context, message)
        return
    test = condition(context, node.test)
    with context.block() as failure_statements:
        _record_exception(context, AssertionError, message, node)
        end_thread(context, context.span(node))
    if isinstance(test, Const) and test.value:
        return
    context.emit(If(negation(test), tuple(failure_statements), (), context.span(node)))


def _exception(context: FunctionContext, node: ast.expr) -> RaisedObject:
    value = context.value(node)
    exception = value.value if isinstance(value, StaticObject) else None
    if isinstance(exception, BaseException):
        return exception
    if isinstance(exception, type) and issubclass(exception, BaseException):
        return exception
    fail(
        "exceptions",
        Label(context.span(node), "this is not an exception"),
        hint="raise one of Python's, such as ValueError",
    )


def _check_values(context: FunctionContext, nodes: list[ast.expr]) -> None:
    """Check the values of a message for errors."""
    with context.block():
        for value in printed_expressions(nodes):
            context.value(value)


def _record_exception(
    context: FunctionContext, exception: RaisedObject, arguments: list[ast.expr], node: ast.stmt
) -> None:
    """Emit the statement that records an exception for the host."""
    texts, values = texts_of(context, arguments)
    _emit_record(context, exception, tuple(texts), values, context.span(node))


def raise_if(
    context: FunctionContext,
    failed: Expr,
    text: PrintFormat,
    values: list[Expr],
    span: Span,
    exception: RaisedObject = ValueError,
) -> None:
    """Emit ``if failed: raise exception(text)``."""
    with context.block() as failure_statements:
        if context.devices.options.checked:
            _emit_record(context, exception, (text,), values, span)
        end_thread(context, span)
    context.emit(If(failed, tuple(failure_statements), (), span))


def _emit_record(
    context: FunctionContext,
    exception: RaisedObject,
    texts: tuple[PrintFormat, ...],
    values: list[Expr],
    span: Span,
) -> None:
    record = RaisedException(exception, span, texts)
    names = [f"cuda.{name}.{axis}" for name in ("blockIdx", "threadIdx") for axis in "xyz"]
    thread = [Apply(REGISTRY[name], (), WEAK_INT, span) for name in names]
    context.emit(Print((record,), (*thread, *values), span))
