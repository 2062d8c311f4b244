"""Find the array parameters that a kernel only stores to, from its syntax tree.

The types of arguments are not needed, so the results of a kernel are known before it is typed.
"""

from __future__ import annotations

import ast

_DESCRIPTIONS = ("dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides")


def write_only_arrays(tree: ast.AST) -> frozenset[str]:
    """Return the arrays of which a kernel stores elements and reads none.

    An array that it views, binds to another name or passes to a function counts as read.
    """
    stored, updated, described = set(), set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
                updated.add(name)
            case ast.Subscript(value=ast.Name() as array, ctx=ast.Store()):
                stored.add(array)
            case ast.Attribute(value=ast.Name() as array, attr=name) if name in _DESCRIPTIONS:
                described.add(array)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as array]):
                described.add(array)
    names = {node for node in ast.walk(tree) if isinstance(node, ast.Name)}
    read = {node.id for node in names - stored - described}
    return frozenset({node.id for node in stored} - updated - read)
