"""``raise`` ends the thread: a kernel returns; a device function returns a flag to its caller.

The flag follows the function's value; the caller returns too if it is set.
"""

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
    """Emit the end of the thread."""
    leave = Return(None, span)
    if not context.is_kernel:
        context.thread_exits.append(leave)
    context.emit(leave)


def check_exit_flag(context: FunctionContext, value: Value, span: Span) -> Value:
    """Return the value of a call; end the thread if the callee did."""
    if not isinstance(value, TupleValue) or value.names != _EXIT_FIELDS:
        return value
    result, ended = value.items
    with context.block() as leaving:
        end_thread(context, span)
    context.emit(If(require_number(ended), tuple(leaving), (), span))
    return result


def with_exit_flag(kind: ParameterType) -> ParameterType:
    """Return the result type of a function that may end the thread."""
    return Tuple((kind, WEAK_BOOL), _EXIT_FIELDS)


def return_exit_flag(context: FunctionContext, body: Body, kind: ParameterType) -> Body:
    """Add the flag to each return of a function that may end the thread."""
    numbers = [leaf for leaf in leaf_types(kind) if isinstance(leaf, Scalar)]
    returned_type = result_type(with_exit_flag(kind))

    def with_flag(s: Stmt) -> Body:
        if not isinstance(s, Return):
            return (s,)
        ended = s in context.thread_exits
        parts = [zero(n, s.span) for n in numbers] if ended else _parts(s, len(numbers))
        flag = Const(ended, WEAK_BOOL, s.span)
        return (Return(pack_result([*parts, flag], returned_type, s.span), s.span),)

    span = context.span(context.source.tree)
    return map_stmt(body if numbers else (*body, Return(None, span)), with_flag)


def _parts(s: Return, count: int) -> list[Expr]:
    if s.value is None:
        return []
    return [s.value] if count == 1 else list(children(s.value))
