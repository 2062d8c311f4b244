"""A function as numba reads it: annotations of locals are comments, a statement may do nothing, and
what has a value may also end without one.
Knows syntax, and nothing of what it means."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from pycu2c.base.diagnostics import CompileWarning, Diagnostic, Label, render, warn
from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.frontend.subset.unsupported_syntax import UNUSED

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
    """The same function without what says nothing, and with a value at each end if there is one
    at any. Warns of values that nobody uses, and of ends without one; strings are comments."""
    returns = _own_returns(source.tree.body)
    valued = next((r.value for r in returns if r.value is not None), None)
    bare = [r for r in returns if r.value is None] if valued is not None else []
    ends = [*bare, source.tree] if valued is not None and _may_end(source.tree.body) else bare
    if not ends and not any(_says_nothing(node) for node in ast.walk(source.tree)):
        return source
    reader = _Reader()
    for node in ends:
        _warn("return-type", source, node, *_NO_VALUE)
    tree = copy.deepcopy(source.tree)
    if valued is not None:
        _end_with(_nothing_like(valued), tree)
    plain = replace(source, tree=reader.visit(tree))
    for value in reader.unused:
        _warn(UNUSED.code, source, value, UNUSED.text, UNUSED.help)
    return plain


def _warn(code: str, source: Source, node: ast.AST, text: str, cure: str) -> None:
    label = Label(source.span(node), text)
    warn(render(Diagnostic(code, (label,), cure, severity="warning")), CompileWarning)


_NO_VALUE = (
    "it may end without a value, where other ends have one: 0 is given",
    "return a value on every path; `is None` is false of what is given",
)


def _own_returns(body: Iterable[ast.AST]) -> list[ast.Return]:
    """Those of a function, and not of functions inside of it."""
    found: list[ast.Return] = []
    for node in body:
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found += _own_returns(ast.iter_child_nodes(node))
    return found


def _may_end(body: list[ast.stmt]) -> bool:
    """Whether a block may be run to its end."""
    match body[-1] if body else None:
        case ast.Return() | ast.Raise() | ast.Match():
            return False
        case ast.If(body=then, orelse=orelse):
            return _may_end(then) or _may_end(orelse)
        case ast.While(test=ast.Constant(value=True)) | ast.While(test=ast.Constant(value=1)):
            return False
        case ast.For(orelse=orelse) | ast.While(orelse=orelse) if orelse:
            return _may_end(orelse)
        case _:
            return True


def _nothing_like(value: ast.expr) -> ast.expr:
    """0, for each item of a tuple."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return ast.Tuple([_nothing_like(item) for item in value.elts], ast.Load())
    is_bool = isinstance(value, ast.Compare) or isinstance(getattr(value, "value", 0), bool)
    return ast.Constant(False if is_bool else 0)


def _end_with(value: ast.expr, tree: ast.FunctionDef) -> None:
    """Give each bare return a value, and a return to the end."""
    for found in _own_returns(tree.body):
        if found.value is None:
            found.value = ast.fix_missing_locations(ast.copy_location(copy.deepcopy(value), found))
    if _may_end(tree.body):
        last = ast.copy_location(ast.Return(value), tree.body[-1])
        tree.body.append(ast.fix_missing_locations(last))


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
