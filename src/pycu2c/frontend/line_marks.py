"""Mark the lines of a function where Python's tracing reports them, to measure coverage.

Before: ``while test: use(x)``. After: the mark of the loop's line, then the loop, whose body is the
mark of its line, ``use(x)``, and the mark of the loop's line, which is tested again. An exit of the
function has the negative line of its definition, as in the data of coverage.py.
"""

from __future__ import annotations

import ast
import copy

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source, Span
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import integer

LINE = "line.coverage"  # the variable that a mark assigns


class LineMark(ast.Pass):
    """A thread executes ``line``."""

    line: int

    def lowered(self, span: Span) -> ir.Stmt:
        return ir.Assign(ir.Var(LINE, WEAK_INT, span), integer(self.line, span), span)


def with_line_marks(source: Source) -> Source:
    """Return a function with marks; its tree is copied."""
    tree = copy.copy(source.tree)
    marker = _Marker(-_first_line(tree))
    tree.body = [*marker.block(tree.body, 0), _mark(tree.body[-1], marker.exit)]
    return replace(source, tree=tree)


@dataclass(frozen=True, slots=True)
class _Marker:
    """``exit``: what the mark of an exit has as its line."""

    exit: int

    def block(self, nodes: list[ast.stmt], loop: int) -> list[ast.stmt]:
        """Return statements with marks; ``loop`` is the line of the innermost loop."""
        return [new for node in nodes for new in self.statement(node, loop)]

    def statement(self, node: ast.stmt, loop: int) -> list[ast.stmt]:
        mark = _mark(node, node.lineno)
        match node:
            case ast.Return() | ast.Raise():
                return [mark, _mark(node, self.exit), node]
            case ast.Continue():
                return [mark, _mark(node, loop), node]
            case ast.FunctionDef():
                lines = [d.lineno for d in node.decorator_list]
                return [*(_mark(node, line) for line in lines), mark, node]
            case ast.For() | ast.While():
                new: ast.stmt = copy.copy(node)
                assert isinstance(new, ast.For | ast.While)
                new.body = [*self.block(node.body, node.lineno), mark]
                new.orelse = self.block(node.orelse, loop)
            case ast.If():
                new = copy.copy(node)
                new.body = self.block(node.body, loop)
                new.orelse = self.block(node.orelse, loop)
            case ast.Match():
                new = copy.copy(node)
                new.cases = self.cases(node.cases, loop)
            case _:
                new = node
        return [mark, new]

    def cases(self, cases: list[ast.match_case], loop: int) -> list[ast.match_case]:
        """Return cases that mark the patterns that were tried, with a default that marks all."""
        tried: list[ast.stmt] = []
        result = []
        for case in cases:
            tried = [*tried, _mark(case.pattern, case.pattern.lineno)]
            body = [*tried, *self.block(case.body, loop)]
            result.append(ast.match_case(case.pattern, case.guard, body))
        match cases[-1]:
            case ast.match_case(pattern=ast.MatchAs(pattern=None), guard=None):
                return result
        default = ast.copy_location(ast.MatchAs(), cases[-1].pattern)
        return [*result, ast.match_case(default, None, tried)]


def _mark(node: ast.stmt | ast.pattern, line: int) -> LineMark:
    mark = ast.copy_location(LineMark(), node)
    mark.line = line
    return mark


def _first_line(tree: ast.FunctionDef) -> int:
    return min([tree.lineno, *(d.lineno for d in tree.decorator_list)])
