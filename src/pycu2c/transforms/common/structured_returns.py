"""The body of a function as a part of another: what it returns is assigned, and what a return
skips is not run.

``for …: if c: return a`` then ``return b`` ->
``for …: if c: result = a; returned = True; break`` then ``if not returned: result = b``
"""

from __future__ import annotations

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import Assign, Body, Break, Const, Continue, For, If, Return, Stmt, Var, While
from pycu2c.ir.walk import statements


def without_returns(body: Body, result: Var | None, returned: Var) -> Body:
    """``returned`` is a free name; where nothing reads it, ``dead`` drops it."""
    if not _returns(body):
        return body
    start = Assign(returned, Const(False, WEAK_BOOL, returned.span), returned.span)
    return (start, *_Ending(result, returned).block(body, None))


def _returns(body: Body) -> bool:
    return any(isinstance(s, Return) for s in statements(body))


def _always_leaves(body: Body) -> bool:
    """Whether nothing behind a block is ever run after it."""
    if not body:
        return False
    match body[-1]:
        case Return() | Break() | Continue():
            return True
        case If(_, then, orelse):
            return _always_leaves(then) and _always_leaves(orelse)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Ending:
    result: Var | None
    returned: Var

    def block(self, body: Body, loop: Stmt | None) -> Body:
        """A block of the function, in a loop or in none."""
        for i, s in enumerate(body):
            if isinstance(s, Return):
                return (*body[:i], *self._ended(s, loop))
            if _returns((s,)):
                return (*body[:i], *self._around(s, body[i + 1 :], loop))
        return body

    def _ended(self, s: Return, loop: Stmt | None) -> Body:
        out: list[Stmt] = []
        if s.value is not None and self.result is not None:
            out.append(Assign(self.result, s.value, s.span))
        out.append(Assign(self.returned, Const(True, WEAK_BOOL, s.span), s.span))
        return tuple(out) if loop is None else (*out, Break(s.span))

    def _around(self, s: Stmt, rest: Body, loop: Stmt | None) -> Body:
        """A construct with returns, and what comes after it."""
        if isinstance(s, While | For):
            inside = replace(s, body=self.block(s.body, s))
            if loop is not None:
                leaves = If(self._has_returned(s.span), (Break(s.span),), (), s.span)
                return (inside, leaves, *self.block(rest, loop))
            return (inside, *self._if_going_on(self.block(rest, loop), s.span))
        assert isinstance(s, If)
        if loop is None and _always_leaves(s.then):
            orelse = self.block((*s.orelse, *rest), loop)
            return (replace(s, then=self.block(s.then, loop), orelse=orelse),)
        if loop is None and _always_leaves(s.orelse):
            then = self.block((*s.then, *rest), loop)
            return (replace(s, then=then, orelse=self.block(s.orelse, loop)),)
        inner = replace(s, then=self.block(s.then, loop), orelse=self.block(s.orelse, loop))
        if loop is not None:
            return (inner, *self.block(rest, loop))
        return (inner, *self._if_going_on(self.block(rest, loop), s.span))

    def _if_going_on(self, rest: Body, span: Span) -> Body:
        return (If(negation(self._has_returned(span)), rest, (), span),) if rest else ()

    def _has_returned(self, span: Span) -> Var:
        return replace(self.returned, span=span)
