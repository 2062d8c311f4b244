"""Eliminate returns: turn a function body into statements without returns, for inlining.

``for …: if c: return a`` then ``return b`` -> ``for …: if c: result = a; returned = True; break``
then ``if not returned: result = b``
"""

from __future__ import annotations

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import negation
from pycu2c.ir.walk import contains, never_completes


def eliminate_returns(body: ir.Body, result: ir.Var | None, returned: ir.Var) -> ir.Body:
    """Replace returns by assignments; ``returned`` is an unused name.

    Dead code elimination drops the flag where nothing reads it.
    """
    if not _returns(body):
        return body
    initialize = ir.Assign(returned, ir.Const(False, WEAK_BOOL, returned.span), returned.span)
    return (initialize, *_ReturnElimination(result, returned).block(body, None))


def _returns(body: ir.Body) -> bool:
    return contains(body, ir.Return)


@dataclass(frozen=True, slots=True)
class _ReturnElimination:
    result: ir.Var | None
    returned: ir.Var

    def block(self, body: ir.Body, loop: ir.Stmt | None) -> ir.Body:
        """Transform a block of the function, inside a loop or not."""
        for i, s in enumerate(body):
            if isinstance(s, ir.Return):
                return (*body[:i], *self._replace_return(s, loop))
            if _returns((s,)):
                return (*body[:i], *self._transform_construct(s, body[i + 1 :], loop))
        return body

    def _replace_return(self, s: ir.Return, loop: ir.Stmt | None) -> ir.Body:
        out: list[ir.Stmt] = []
        if s.value is not None and self.result is not None:
            out.append(ir.Assign(self.result, s.value, s.span))
        out.append(ir.Assign(self.returned, ir.Const(True, WEAK_BOOL, s.span), s.span))
        return tuple(out) if loop is None else (*out, ir.Break(s.span))

    def _transform_construct(self, s: ir.Stmt, rest: ir.Body, loop: ir.Stmt | None) -> ir.Body:
        """Transform a construct with returns, and the statements after it."""
        if isinstance(s, ir.While | ir.For):
            new_loop = replace(s, body=self.block(s.body, s))
            if loop is not None:
                exit_loop = ir.If(self._has_returned(s.span), (ir.Break(s.span),), (), s.span)
                return (new_loop, exit_loop, *self.block(rest, loop))
            return (new_loop, *self._guard(self.block(rest, loop), s.span))
        assert isinstance(s, ir.If)
        if loop is None and never_completes(s.then):
            orelse = self.block((*s.orelse, *rest), loop)
            return (replace(s, then=self.block(s.then, loop), orelse=orelse),)
        if loop is None and never_completes(s.orelse):
            then = self.block((*s.then, *rest), loop)
            return (replace(s, then=then, orelse=self.block(s.orelse, loop)),)
        new_if = replace(s, then=self.block(s.then, loop), orelse=self.block(s.orelse, loop))
        if loop is not None:
            return (new_if, *self.block(rest, loop))
        return (new_if, *self._guard(self.block(rest, loop), s.span))

    def _guard(self, rest: ir.Body, span: Span) -> ir.Body:
        return (ir.If(negation(self._has_returned(span)), rest, (), span),) if rest else ()

    def _has_returned(self, span: Span) -> ir.Var:
        return replace(self.returned, span=span)
