"""``raise`` ends the thread: in a kernel by returning; a function tells its caller, which goes on
to its own end. Such a function returns, beside its value, whether the thread has ended."""

from __future__ import annotations

from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, ParameterType, Scalar, Tuple, leaf_types
from pycu2c.frontend.expressions.composite_values import pack_result, result_type
from pycu2c.frontend.function_context import FunctionContext, TupleValue, Value, require_number
from pycu2c.ir.builders import zero
from pycu2c.ir.nodes import Body, Const, Expr, If, Return, Stmt
from pycu2c.ir.walk import children, map_stmt

_EXIT_FIELDS = ("<value>", "<ended>")


def end_thread(context: FunctionContext, span: Span) -> None:
    """Leave the kernel from here."""
    leave = Return(None, span)
    if not context.is_kernel:
        context.thread_exits.append(leave)
    context.emit(leave)


def check_exit_flag(context: FunctionContext, value: Value, span: Span) -> Value:
    """What a call gives, if the thread has not ended in it."""
    if not isinstance(value, TupleValue) or value.names != _EXIT_FIELDS:
        return value
    result, ended = value.items
    with context.block() as leaving:
        end_thread(context, span)
    context.emit(If(require_number(ended), tuple(leaving), (), span))
    return result


def with_exit_flag(kind: ParameterType) -> ParameterType:
    """The type of what a function returns that may end the thread."""
    return Tuple((kind, WEAK_BOOL), _EXIT_FIELDS)


def return_exit_flag(context: FunctionContext, body: Body, kind: ParameterType) -> Body:
    """The body of such a function: each return tells whether the thread has ended."""
    numbers = [leaf for leaf in leaf_types(kind) if isinstance(leaf, Scalar)]
    whole = result_type(with_exit_flag(kind))

    def told(s: Stmt) -> Body:
        if not isinstance(s, Return):
            return (s,)
        ended = s in context.thread_exits
        parts = [zero(n, s.span) for n in numbers] if ended else _parts(s, len(numbers))
        flag = Const(ended, WEAK_BOOL, s.span)
        return (Return(pack_result([*parts, flag], whole, s.span), s.span),)

    span = context.span(context.source.tree)
    return map_stmt(body if numbers else (*body, Return(None, span)), told)


def _parts(s: Return, count: int) -> list[Expr]:
    if s.value is None:
        return []
    return [s.value] if count == 1 else list(children(s.value))
