"""Loops in which a thread may wait for what another one does to memory: a lock, a flag."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Break,
    Declare,
    ElementOf,
    Expr,
    For,
    If,
    Load,
    Return,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands
from pycu2c.ops.intrinsics.registry import Effect


def spins(loop: For | While) -> bool:
    """Whether how long a loop goes on depends on the result of an atomic operation, or, if it has
    a fence, on memory that it reads."""
    inside = [e for e in all_expressions((loop,)) if isinstance(e, Apply)]
    memory = [e for e in inside if e.intrinsic.effect is Effect.MEMORY]
    if not memory:
        return False
    found = _Told(any(not _is_atomic(e) for e in memory))
    before = -1
    while before != len(found.names) + found.leaves:
        before = len(found.names) + found.leaves
        found.body(loop.body, False, True)
    ends = isinstance(loop, While) and found.depends(loop.condition)
    return ends or found.leaves


def _is_atomic(e: Apply) -> bool:
    return any(isinstance(a, ElementOf) for a in e.arguments)


@dataclass(slots=True)
class _Told:
    """Which variables of a loop follow from what other threads have done to memory."""

    reads: bool  # loads tell it, too
    names: set[str] = field(default_factory=set)
    leaves: bool = False  # it decides whether the loop is left

    def body(self, body: Body, told: bool, own: bool) -> None:
        """``told``: whether it decides if these statements are run. ``own``: whether a break
        here leaves the loop in question."""
        for s in body:
            if isinstance(s, Assign | Declare):
                if told or any(self.depends(e) for e in operands(s)):
                    self.names.add(s.var.name)
            elif isinstance(s, Return) or (isinstance(s, Break) and own):
                self.leaves = self.leaves or told
            else:
                decided = told or any(self.depends(e) for e in _conditions(s))
                for inner in bodies(s):
                    self.body(inner, decided, own and isinstance(s, If))

    def depends(self, e: Expr) -> bool:
        return any(self._tells(x) for x in expressions(e))

    def _tells(self, e: Expr) -> bool:
        match e:
            case Apply():
                return e.intrinsic.effect is Effect.MEMORY and _is_atomic(e)
            case Load():
                return self.reads
            case Var():
                return e.name in self.names
            case _:
                return False


def _conditions(s: Stmt) -> Iterator[Expr]:
    if isinstance(s, If | While | For):
        yield from operands(s)
