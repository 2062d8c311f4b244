"""Rewrite a kernel into another of the same meaning, whose text is compiled another way.

The reference interprets the kernel as it was drawn, and the target runs its variant: a fault that
the compiler and the reference share is found if only one of the two texts has it.
"""

from __future__ import annotations

import ast
import random

_COUNTED = ast.BinOp | ast.Call | ast.Subscript | ast.Compare


def variant_of(text: str) -> str:
    """Return the text of a case with another kernel, which leaves the same results."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "fuzzed":
            _Restructured().visit(node)
            _rename(node, random.Random(len(text)))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _rename(kernel: ast.FunctionDef, rng: random.Random) -> None:
    """Rename the parameters and variables; the order of the new names is another one."""
    nodes = list(ast.walk(kernel))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    shuffled = rng.sample(range(len(names)), len(names))
    new = {name: f"r{number}" for name, number in zip(sorted(names), shuffled)}
    for n in nodes:
        match n:
            case ast.Name():
                n.id = new.get(n.id, n.id)
            case ast.arg():
                n.arg = new[n.arg]
            case ast.MatchAs(name=str()) | ast.MatchStar(name=str()):
                n.name = new.setdefault(n.name, f"m{len(new)}")
            case ast.Nonlocal():
                n.names = [new.get(name, name) for name in n.names]


class _Restructured(ast.NodeTransformer):
    """Rotate loops, invert branches and split statements."""

    def __init__(self) -> None:
        self.count = 0

    def visit_If(self, node: ast.If) -> ast.If:
        """``if c: A else: B`` -> ``if not c: B else: A``"""
        self.generic_visit(node)
        if any(isinstance(n, ast.Constant | ast.NamedExpr) for n in ast.walk(node.test)):
            return node  # a test for None, or one that is folded
        inverted = ast.UnaryOp(ast.Not(), node.test)
        return ast.If(inverted, node.orelse or [ast.Pass()], node.body)

    def visit_While(self, node: ast.While) -> ast.While:
        """``while c: A`` -> ``while True: if c: A else: break``, without an ``else``"""
        self.generic_visit(node)
        if node.orelse:
            return node
        leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        return ast.While(ast.Constant(True), [leave, *node.body], [])

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """``x = a + b`` -> ``y = a; x = y + b``, if ``a`` is computed"""
        value = node.value
        if not isinstance(value, ast.BinOp) or not isinstance(value.left, _COUNTED):
            return [node]
        if not any(isinstance(n, ast.Subscript) for n in ast.walk(value.left)):
            return [node]  # it may be a constant
        self.count += 1
        name = f"split{self.count}"
        first = ast.Assign([ast.Name(name, ast.Store())], value.left)
        value.left = ast.Name(name, ast.Load())
        return [first, node]
