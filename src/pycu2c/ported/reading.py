"""A function as numba reads it: annotations of locals are comments, and a statement may do nothing.
Knows syntax, and nothing of what it means."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

from pycu2c.diagnostics import CompileWarning, Diagnostic, Label, render, warn
from pycu2c.frontend.refusals import UNUSED
from pycu2c.source import Source

_WITHOUT_EFFECT = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Compare,
    ast.BinOp,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Subscript,
)


def as_numba_reads(source: Source) -> Source:
    """The same function without what says nothing. Warns of values that nobody uses; strings are
    comments."""
    if not any(_says_nothing(node) for node in ast.walk(source.tree)):
        return source
    reader = _Reader()
    plain = replace(source, tree=reader.visit(copy.deepcopy(source.tree)))
    for value in reader.unused:
        label = Label(source.span(value), UNUSED.text)
        found = Diagnostic(UNUSED.code, (label,), UNUSED.help, severity="warning")
        warn(render(found), CompileWarning)
    return plain


def _says_nothing(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) or (isinstance(node, ast.Expr) and _is_pure(node.value))


def _is_pure(value: ast.expr) -> bool:
    calls = (ast.Call, ast.NamedExpr)
    return isinstance(value, _WITHOUT_EFFECT) and not any(
        isinstance(node, calls) for node in ast.walk(value)
    )


class _Reader(ast.NodeTransformer):
    def __init__(self) -> None:
        self.unused: list[ast.expr] = []

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """``x: float = 1`` -> ``x = 1``; ``x: float`` -> ``pass``."""
        plain: ast.stmt = ast.Pass()
        if node.value is not None:
            plain = ast.Assign([node.target], node.value)
        return ast.copy_location(plain, node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """``x, y`` -> ``pass``."""
        if not _is_pure(node.value):
            return node
        if not isinstance(node.value, ast.Constant):
            self.unused.append(node.value)
        return ast.copy_location(ast.Pass(), node)
