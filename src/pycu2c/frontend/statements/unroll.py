"""Loops over tuples, written out: a copy of the body for each round, in the syntax tree.

``for x in (1, 2.5): use(x)`` -> ``x = 1; use(x); x = 2.5; use(x)``, so that live ranges, types and
what is decided while compiling are a round's own. Which loops are written out is known from
types: the walk over the function finds out, and begins anew with the new tree.
"""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from pycu2c.base.records import dataclass, field

_Node = TypeVar("_Node", bound=ast.AST)


class Round(ast.AST):
    """One round of a loop: a copy of its target and its body."""

    _fields = ("target", "body")
    target: ast.expr
    body: list[ast.stmt]


class Rounds(ast.stmt):
    """A loop written out. A round that ``may_not_run`` has a condition in front of it."""

    _fields = ("iter", "rounds", "orelse")
    iter: ast.expr
    rounds: list[Round]
    orelse: list[ast.stmt]
    may_not_run: bool


_Inside = (ast.stmt, ast.match_case, Round)  # what holds statements


@dataclass(frozen=True, slots=True)
class Count:
    """How many rounds a loop has, and whether the last of them may not be reached."""

    rounds: int
    may_not_run: bool = False


@dataclass(slots=True)
class Copies:
    """The loops that are written out, and from which node of the source each copy is."""

    wanted: dict[ast.For, Count] = field(default_factory=dict)
    done: dict[ast.For, Count] = field(default_factory=dict)
    origins: dict[int, int] = field(default_factory=dict)

    def origin(self, node_id: int) -> int:
        return self.origins.get(node_id, node_id)

    def write_out(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function with the wanted loops written out; ``tree`` is left alone."""
        new = self._with_rounds(tree)
        self.done |= self.wanted  # they also keep what ``id`` was taken of alive
        self.wanted = {}
        assert isinstance(new, ast.FunctionDef)
        return new

    def _with_rounds(self, node: ast.AST) -> ast.AST:
        """A copy of the statements on the way to a wanted loop; the rest is shared."""
        if isinstance(node, ast.For) and node in self.wanted:
            return self._rounds(node, self.wanted[node])
        changed = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], _Inside):
                new = [self._with_rounds(child) for child in value]
                if any(a is not b for a, b in zip(new, value)):
                    changed[name] = new
        if not changed:
            return node
        made = copy.copy(node)
        for name, new in changed.items():
            setattr(made, name, new)
        return made

    def _rounds(self, loop: ast.For, count: Count) -> Rounds:
        made = ast.copy_location(Rounds(), loop)
        made.iter, made.orelse, made.may_not_run = loop.iter, loop.orelse, count.may_not_run
        made.rounds = [self._round(loop) for _ in range(count.rounds)]
        return made

    def _round(self, loop: ast.For) -> Round:
        made = Round()
        made.target = self._copied(loop.target)
        made.body = [self._copied(statement) for statement in loop.body]
        return made

    def _copied(self, node: _Node) -> _Node:
        made = copy.deepcopy(node)
        for old, new in zip(ast.walk(node), ast.walk(made)):
            self.origins[id(new)] = self.origin(id(old))
        return made
