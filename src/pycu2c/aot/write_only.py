"""Find the write-only parameters of a kernel in its syntax tree.

The analysis needs no types, so the results of a kernel are known before it is typed.
"""

from __future__ import annotations

import ast

_METADATA = ("dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides")


def write_only_arrays(tree: ast.AST) -> frozenset[str]:
    """Return the arrays to which a kernel stores elements and from which it loads none.

    An array that is viewed, bound to another name or passed to a function counts as read.
    """
    stored, updated, measured = set(), set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
                updated.add(name)
            case ast.Subscript(value=ast.Name() as array, ctx=ast.Store()):
                stored.add(array)
            case ast.Attribute(value=ast.Name() as array, attr=name) if name in _METADATA:
                measured.add(array)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as array]):
                measured.add(array)
    names = {node for node in ast.walk(tree) if isinstance(node, ast.Name)}
    read = {node.id for node in names - stored - measured}
    return frozenset({node.id for node in stored} - updated - read)
