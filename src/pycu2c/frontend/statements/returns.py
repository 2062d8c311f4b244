"""What a function returns: one type, and every ``return`` in it."""

from __future__ import annotations

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import Kind
from pycu2c.base.types import NONE, ParameterType, Scalar, leaf_types
from pycu2c.frontend.expressions.composite_values import joined, packed, result_type, told
from pycu2c.frontend.function_context import Frame
from pycu2c.ir.builders import cast
from pycu2c.ir.nodes import Body, If, Pack, Return, Stmt, While
from pycu2c.ir.walk import children, map_stmt


def result_of(frame: Frame, body: Body) -> ParameterType:
    """The type of what a function returns."""
    result = joined_result(frame) or NONE
    if result != NONE and not always_leaves(body):
        fail(
            "return-type",
            Label(frame.span(frame.source.tree), "it can end without a return"),
            *(Label(at, f"and here it returns `{told(result)}`") for _, at in frame.results[:1]),
            help="end it with a return of a value",
        )
    return result


def joined_result(frame: Frame) -> ParameterType | None:
    """What the signature says, or the type that the results have together; None if there is
    neither."""
    result = frame.result
    for given, span in frame.results:
        common = given if result is None else joined(result, given)
        if common is None:
            first = frame.results[0]
            fail(
                "return-type",
                Label(span, f"here `{told(given)}`"),
                Label(first[1], f"and here `{told(first[0])}`"),
                help="return a value of one type on every path, such as math.nan for none",
            )
        result = common
    return result


def always_leaves(body: Body) -> bool:
    """Whether every path through a block returns (or never ends)."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, Return):
        return True
    if isinstance(last, If):
        return always_leaves(last.then) and always_leaves(last.orelse)
    return isinstance(last, While) and _is_endless(last)


def _is_endless(loop: While) -> bool:
    return getattr(loop.condition, "value", None) is True and not _breaks(loop.body)


def _breaks(body: Body) -> bool:
    names = {type(s).__name__ for s in body}
    inner = [b for s in body if isinstance(s, If) for b in (s.then, s.orelse)]
    return "Break" in names or any(_breaks(b) for b in inner)


def returning(frame: Frame, body: Body, kind: ParameterType) -> Body:
    """Every returned value in the function's one type."""
    if len({given for given, _ in frame.results}) < 2:
        return body
    wanted = [leaf for leaf in leaf_types(kind) if isinstance(leaf, Scalar)]

    def converted(s: Stmt) -> Body:
        if not isinstance(s, Return) or s.value is None:
            return (s,)
        several = isinstance(s.value, Pack) and s.value.type.dtype.kind is Kind.RECORD
        given = children(s.value) if several else (s.value,)
        parts = [cast(e, to) for e, to in zip(given, wanted, strict=True)]
        return (Return(packed(parts, result_type(kind), s.span), s.span),)

    return map_stmt(body, converted)
