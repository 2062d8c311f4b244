"""``raise`` and ``assert``. Both end the thread. In a checked kernel it notes the exception first,
as ``print`` notes values, and the launch raises it; in others ``assert`` is not evaluated."""

from __future__ import annotations

import ast
from typing import NoReturn, TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import Frame, Static
from pycu2c.frontend.statements.printing import texts_of, values_in
from pycu2c.frontend.statements.thread_exit import end_thread
from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import Apply, Const, Expr, If, Print
from pycu2c.ir.print_format import Raised
from pycu2c.ops.intrinsics.registry import REGISTRY

Exception_: TypeAlias = type[BaseException] | BaseException


def raised(frame: Frame, node: ast.Raise) -> None:
    """Ends the thread."""
    assert node.exc is not None
    called = node.exc if isinstance(node.exc, ast.Call) else None
    kind = _exception(frame, called.func if called else node.exc)
    given = called.args if called else []
    if frame.devices.checked:
        _tell(frame, kind, given, node)
    else:
        _look_at(frame, given)
    end_thread(frame, frame.span(node))


def asserted(frame: Frame, node: ast.Assert) -> None:
    """If it is not evaluated, it is looked at for mistakes."""
    message = [node.msg] if node.msg is not None else []
    if not frame.devices.checked:
        with frame.block():
            condition(frame, node.test)
            _look_at(frame, message)
        return
    test = condition(frame, node.test)
    with frame.block() as failing:
        _tell(frame, AssertionError, message, node)
        end_thread(frame, frame.span(node))
    if isinstance(test, Const) and test.value:
        return
    frame.emit(If(negation(test), tuple(failing), (), frame.span(node)))


def _exception(frame: Frame, node: ast.expr) -> Exception_:
    found = frame.value(node)
    kind = found.value if isinstance(found, Static) else None
    if isinstance(kind, BaseException) or (
        isinstance(kind, type) and issubclass(kind, BaseException)
    ):
        return kind
    _no_exception(frame, node)


def _no_exception(frame: Frame, node: ast.expr) -> NoReturn:
    fail(
        "exceptions",
        Label(frame.span(node), "this is no exception"),
        help="raise one of Python's, such as ValueError",
    )


def _look_at(frame: Frame, nodes: list[ast.expr]) -> None:
    """The values in what would be told, for mistakes."""
    with frame.block():
        for value in values_in(nodes):
            frame.value(value)


def _tell(frame: Frame, kind: Exception_, given: list[ast.expr], node: ast.stmt) -> None:
    """Note an exception for the host."""
    span = frame.span(node)
    texts, values = texts_of(frame, given)
    where = f"{frame.source.file}:{node.lineno}"
    told = Raised(kind, where, tuple(texts))
    frame.emit(Print((told,), (*_who(span), *values), span))


def _who(span: Span) -> list[Expr]:
    rows = [f"cuda.{name}.{axis}" for name in ("blockIdx", "threadIdx") for axis in "xyz"]
    return [Apply(REGISTRY[row], (), WEAK_INT, span) for row in rows]
