"""Unroll loops over tuples: copy the body for each iteration, in the syntax tree.

Before: ``for x in (1, 2.5): use(x)``. After: ``x = 1; use(x); x = 2.5; use(x)``, so that each
iteration has its own live ranges, types and compile-time decisions. Types decide which loops are
unrolled: a pass over the function finds them, and the next pass uses the new tree.
"""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import copy_tree

_Node = TypeVar("_Node", bound=ast.AST)


class UnrolledIteration(ast.AST):
    """One iteration of a loop: a copy of its target and its body."""

    _fields = ("target", "body")
    target: ast.expr
    body: list[ast.stmt]


class UnrolledLoop(ast.stmt):
    """An unrolled loop; if ``may_be_skipped``, each iteration has a condition that may skip it."""

    _fields = ("iter", "iterations", "orelse")
    iter: ast.expr
    iterations: list[UnrolledIteration]
    orelse: list[ast.stmt]
    may_be_skipped: bool


_STATEMENT_OWNERS = (ast.stmt, ast.match_case, UnrolledIteration)  # nodes with statements


@dataclass(frozen=True, slots=True)
class TripCount:
    """The number of iterations, which is a maximum if ``may_be_skipped``."""

    iterations: int
    may_be_skipped: bool = False


@dataclass(slots=True)
class LoopUnroller:
    """The loops to unroll, and the source node of each copied node."""

    pending: dict[ast.For, TripCount] = field(default_factory=dict)
    unrolled: dict[ast.For, TripCount] = field(default_factory=dict)
    origins: dict[int, int] = field(default_factory=dict)

    def origin(self, node_id: int) -> int:
        return self.origins.get(node_id, node_id)

    def unroll(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """Return the function with the pending loops unrolled; ``tree`` is not changed."""
        new = self._with_unrolled_loops(tree)
        self.unrolled |= self.pending  # keeps the nodes alive whose ``id`` is used
        self.pending = {}
        assert isinstance(new, ast.FunctionDef)
        return new

    def _with_unrolled_loops(self, node: ast.AST) -> ast.AST:
        """Copy the statements on the way to a pending loop; share the rest."""
        if isinstance(node, ast.For) and node in self.pending:
            return self._unrolled_loop(node, self.pending[node])
        changed_fields = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], _STATEMENT_OWNERS):
                new = [self._with_unrolled_loops(child) for child in value]
                if any(a is not b for a, b in zip(new, value)):
                    changed_fields[name] = new
        if not changed_fields:
            return node
        copied = copy.copy(node)
        for name, new in changed_fields.items():
            setattr(copied, name, new)
        return copied

    def _unrolled_loop(self, loop: ast.For, count: TripCount) -> UnrolledLoop:
        unrolled = ast.copy_location(UnrolledLoop(), loop)
        unrolled.iter = loop.iter
        unrolled.orelse = loop.orelse
        unrolled.may_be_skipped = count.may_be_skipped
        unrolled.iterations = [self._iteration(loop) for _ in range(count.iterations)]
        return unrolled

    def _iteration(self, loop: ast.For) -> UnrolledIteration:
        iteration = UnrolledIteration()
        iteration.target = self._copy(loop.target)
        iteration.body = [self._copy(statement) for statement in loop.body]
        return iteration

    def _copy(self, node: _Node) -> _Node:
        copied = copy_tree(node)
        for old, new in zip(ast.walk(node), ast.walk(copied)):
            self.origins[id(new)] = self.origin(id(old))
        return copied
