"""Rewrite functions for CuPy's JIT to the functions of this package.

``shared_memory(dtype, size)`` becomes ``shared.array``. Arguments for loop unrolling and for the
alignment of atomics are removed, because compilers determine both.
"""

from __future__ import annotations

import ast
from typing import Any

from pycu2c.base.records import replace
from pycu2c.base.source import Source, bound_object, copy_tree, source_of
from pycu2c.ops.intrinsics.memory import allocation


def adapted_source(function: Any) -> Source:
    """Return the source of a function with rewritten calls."""
    source = source_of(function)
    rewriter = _CallRewriter(source)
    if not any(map(rewriter.changes, ast.walk(source.tree))):
        return source
    return replace(source, tree=rewriter.visit(copy_tree(source.tree)))


class _CallRewriter(ast.NodeTransformer):
    def __init__(self, source: Source) -> None:
        self._source = source

    def changes(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        has_hints = any(k.arg in ("unroll", "alignment") for k in node.keywords)
        return has_hints or self._called(node.func) is allocation.shared_array

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = self._called(node.func)
        self.generic_visit(node)
        if called is range:
            node.keywords = [k for k in node.keywords if k.arg != "unroll"]
        elif _is_atomic(called) or called is allocation.shared_array:
            node.keywords = [k for k in node.keywords if k.arg != "alignment"]
        if called is allocation.shared_array:
            _rename_size_to_shape(node)
        return node

    def _called(self, node: ast.expr) -> object:
        """Return the object of a dotted name; None for other expressions."""
        if isinstance(node, ast.Name):
            return bound_object(self._source.python, node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._called(node.value), node.attr, None)
        return None


def _is_atomic(called: object) -> bool:
    return str(getattr(called, "name", "")).startswith("cuda.atomic.")


def _rename_size_to_shape(node: ast.Call) -> None:
    """Replace the arguments ``(dtype, size)`` of a call by ``(shape=size, dtype=dtype)``."""
    arguments = {k.arg: k.value for k in node.keywords}
    arguments |= dict(zip(("dtype", "size"), node.args))
    if arguments.keys() != {"dtype", "size"} or len(arguments) < len(node.args) + len(
        node.keywords
    ):
        return  # the front end rejects it
    renamed = {"shape": _shape(arguments["size"]), "dtype": arguments["dtype"]}
    node.args = []
    node.keywords = [ast.copy_location(ast.keyword(n, v), node) for n, v in renamed.items()]


def _shape(size: ast.expr) -> ast.expr:
    """Return the shape; None becomes 0, which is all dynamic shared memory of the launch."""
    if isinstance(size, ast.Constant) and size.value is None:
        return ast.copy_location(ast.Constant(0), size)
    return size
