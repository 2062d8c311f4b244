"""``raise`` ends the thread: in a kernel by returning; a function tells its caller, which goes on
to its own end. Such a function returns, beside its value, whether the thread has ended."""

from __future__ import annotations

from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, ParameterType, Scalar, Tuple, leaf_types
from pycu2c.frontend.expressions.composite_values import packed, result_type
from pycu2c.frontend.function_context import Frame, Items, Value, number
from pycu2c.ir.builders import zero
from pycu2c.ir.nodes import Body, Const, Expr, If, Return, Stmt
from pycu2c.ir.walk import children, map_stmt

_ENDING = ("<value>", "<ended>")


def end_thread(frame: Frame, span: Span) -> None:
    """Leave the kernel from here."""
    leave = Return(None, span)
    if not frame.is_kernel:
        frame.ended.append(leave)
    frame.emit(leave)


def value_of_call(frame: Frame, value: Value, span: Span) -> Value:
    """What a call gives, if the thread has not ended in it."""
    if not isinstance(value, Items) or value.names != _ENDING:
        return value
    result, ended = value.items
    with frame.block() as leaving:
        end_thread(frame, span)
    frame.emit(If(number(ended), tuple(leaving), (), span))
    return result


def with_ending(kind: ParameterType) -> ParameterType:
    """The type of what a function returns that may end the thread."""
    return Tuple((kind, WEAK_BOOL), _ENDING)


def telling(frame: Frame, body: Body, kind: ParameterType) -> Body:
    """The body of such a function: each return tells whether the thread has ended."""
    numbers = [leaf for leaf in leaf_types(kind) if isinstance(leaf, Scalar)]
    whole = result_type(with_ending(kind))

    def told(s: Stmt) -> Body:
        if not isinstance(s, Return):
            return (s,)
        ended = s in frame.ended
        parts = [zero(n, s.span) for n in numbers] if ended else _parts(s, len(numbers))
        flag = Const(ended, WEAK_BOOL, s.span)
        return (Return(packed([*parts, flag], whole, s.span), s.span),)

    span = frame.span(frame.source.tree)
    return map_stmt(body if numbers else (*body, Return(None, span)), told)


def _parts(s: Return, count: int) -> list[Expr]:
    if s.value is None:
        return []
    return [s.value] if count == 1 else list(children(s.value))
