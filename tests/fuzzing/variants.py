"""Rewrite a kernel into another of the same meaning, whose text is compiled another way.

The reference interprets the kernel as it was drawn, and the target runs its variant: a fault that
the compiler and the reference share is found if only one of the two texts has it.
"""

from __future__ import annotations

import ast
import random

MOST_FUNCTIONS = 3
_COUNTED = ast.BinOp | ast.Call | ast.Subscript | ast.Compare


def variant_of(text: str) -> str:
    """Return the text of a case with another kernel, which leaves the same results."""
    tree = ast.parse(text)
    functions = (n for n in tree.body if isinstance(n, ast.FunctionDef))
    kernel = next(n for n in functions if n.name == "fuzzed")
    restructured = _Restructured()
    restructured.visit(kernel)
    _rename(kernel, random.Random(len(text)))
    position = tree.body.index(kernel)
    tree.body[position:position] = restructured.functions
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
    """Rotate loops, invert branches, split statements, and move operations into functions."""

    def __init__(self) -> None:
        self.count = 0
        self.functions: list[ast.stmt] = []

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
        self.generic_visit(node)
        value = node.value
        if not isinstance(value, ast.BinOp) or not isinstance(value.left, _COUNTED):
            return [node]
        if not _loads(value.left):
            return [node]  # it may be a constant
        self.count += 1
        name = f"split{self.count}"
        first = ast.Assign([ast.Name(name, ast.Store())], value.left)
        value.left = ast.Name(name, ast.Load())
        return [first, node]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """``a + b`` -> ``f(a, b)``, if both are computed: a parameter is no constant"""
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow) or len(self.functions) == MOST_FUNCTIONS:
            return node
        return self.function_call(node) if _loads(node.left) and _loads(node.right) else node

    def function_call(self, operation: ast.BinOp) -> ast.Call:
        """Return a call of a new device function that computes an operation."""
        name = f"operation{len(self.functions)}"
        new = f"@device\ndef {name}(left, right):\n    return left + right\n"
        (function,) = ast.parse(new).body
        for node in ast.walk(function):
            if isinstance(node, ast.BinOp):
                node.op = operation.op
        self.functions.append(function)
        return ast.Call(ast.Name(name, ast.Load()), [operation.left, operation.right], [])


def _loads(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Subscript) for n in ast.walk(node))
