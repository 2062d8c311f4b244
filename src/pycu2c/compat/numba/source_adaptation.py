"""Adapt the source of a function to numba's semantics.

numba ignores annotations of locals, allows statements without effect, and lets a function that
returns values also reach its end without a return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from pycu2c.base.diagnostics import CompileWarning, Diagnostic, Label, render, warn
from pycu2c.base.records import replace
from pycu2c.base.source import Source, copy_tree, source_of
from pycu2c.frontend.subset.unsupported_syntax import UNUSED

_PURE_EXPRESSIONS = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Compare,
    ast.BinOp,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Subscript,
)


def adapted_source(function: Any) -> Source:
    """Return a function without no-op statements, and with a value on each return path.

    Warn of unused values, except constants such as strings, and of paths without a value.
    """
    source = source_of(function)
    returns = _own_returns(source.tree.body)
    returned_value = next((r.value for r in returns if r.value is not None), None)
    bare_returns = [r for r in returns if r.value is None] if returned_value is not None else []
    falls_through = returned_value is not None and _may_fall_through(source.tree.body)
    without_value = [*bare_returns, source.tree] if falls_through else bare_returns
    if not without_value and not any(_has_no_effect(node) for node in ast.walk(source.tree)):
        return source
    transformer = _NumbaSourceTransformer()
    for node in without_value:
        _warn("return-type", source, node, *_NO_VALUE)
    tree = copy_tree(source.tree)
    if returned_value is not None:
        _complete_returns(_zero_like(returned_value), tree)
    adapted = replace(source, tree=transformer.visit(tree))
    for value in transformer.unused:
        _warn(UNUSED.code, source, value, UNUSED.text, UNUSED.hint)
    return adapted


def _warn(code: str, source: Source, node: ast.AST, text: str, hint: str) -> None:
    label = Label(source.span(node), text)
    warn(render(Diagnostic(code, (label,), hint, severity="warning")), CompileWarning)


_NO_VALUE = (
    "this path returns no value, but others do: it returns 0",
    "return a value on every path; the result is never None",
)


def _own_returns(body: Iterable[ast.AST]) -> list[ast.Return]:
    """Return the return statements of a function, without those of nested functions."""
    returns: list[ast.Return] = []
    for node in body:
        if isinstance(node, ast.Return):
            returns.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            returns += _own_returns(ast.iter_child_nodes(node))
    return returns


def _may_fall_through(body: list[ast.stmt]) -> bool:
    """Return whether control flow may reach the end of a block."""
    match body[-1] if body else None:
        case ast.Return() | ast.Raise() | ast.Match():
            return False
        case ast.If(body=then, orelse=orelse):
            return _may_fall_through(then) or _may_fall_through(orelse)
        case ast.While(test=ast.Constant(value=True)) | ast.While(test=ast.Constant(value=1)):
            return False
        case ast.For(orelse=orelse) | ast.While(orelse=orelse) if orelse:
            return _may_fall_through(orelse)
        case _:
            return True


def _zero_like(value: ast.expr) -> ast.expr:
    """Return 0 or False, or for a tuple or list a tuple of them."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return ast.Tuple([_zero_like(item) for item in value.elts], ast.Load())
    is_bool = isinstance(value, ast.Compare) or isinstance(getattr(value, "value", 0), bool)
    return ast.Constant(False if is_bool else 0)


def _complete_returns(value: ast.expr, tree: ast.FunctionDef) -> None:
    """Add the value to bare returns, and a return at the end if control flow reaches it."""
    for node in _own_returns(tree.body):
        if node.value is None:
            node.value = ast.fix_missing_locations(ast.copy_location(copy_tree(value), node))
    if _may_fall_through(tree.body):
        last = ast.copy_location(ast.Return(value), tree.body[-1])
        tree.body.append(ast.fix_missing_locations(last))


def _has_no_effect(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) or (isinstance(node, ast.Expr) and _is_pure(node.value))


def _is_pure(value: ast.expr) -> bool:
    side_effects = (ast.Call, ast.NamedExpr)
    return isinstance(value, _PURE_EXPRESSIONS) and not any(
        isinstance(node, side_effects) for node in ast.walk(value)
    )


class _NumbaSourceTransformer(ast.NodeTransformer):
    def __init__(self) -> None:
        self.unused: list[ast.expr] = []

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Transform ``x: float = 1`` -> ``x = 1``; ``x: float`` -> ``pass``."""
        statement: ast.stmt = ast.Pass()
        if node.value is not None:
            statement = ast.Assign([node.target], node.value)
        return ast.copy_location(statement, node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Transform ``x, y`` -> ``pass``; ``t[i]``, which may raise, is assigned."""
        if not _is_pure(node.value):
            return node
        if not isinstance(node.value, ast.Constant):
            self.unused.append(node.value)
        statement: ast.stmt = ast.Pass()
        if any(isinstance(part, ast.Subscript) for part in ast.walk(node.value)):
            statement = ast.Assign([ast.Name("<unused>", ast.Store())], node.value)
        return ast.fix_missing_locations(ast.copy_location(statement, node))
