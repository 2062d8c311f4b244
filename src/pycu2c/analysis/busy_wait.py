"""Detect busy-wait loops: loops that end when another thread writes memory (locks, flags)."""

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


def is_busy_wait(loop: For | While) -> bool:
    """Return whether a loop exit depends on an atomic result, or on loads if it has a fence."""
    inside = [e for e in all_expressions((loop,)) if isinstance(e, Apply)]
    memory = [e for e in inside if e.intrinsic.effect is Effect.MEMORY]
    if not memory:
        return False
    found = _DependenceAnalysis(any(not _is_atomic(e) for e in memory))
    before = -1
    while before != len(found.names) + found.exits:
        before = len(found.names) + found.exits
        found.body(loop.body, False, True)
    ends = isinstance(loop, While) and found.depends(loop.condition)
    return ends or found.exits


def _is_atomic(e: Apply) -> bool:
    return any(isinstance(a, ElementOf) for a in e.arguments)


@dataclass(slots=True)
class _DependenceAnalysis:
    """Variables of a loop that depend on memory which other threads write."""

    reads: bool  # loads count as well as atomics
    names: set[str] = field(default_factory=set)
    exits: bool = False  # a dependent condition controls an exit of the loop

    def body(self, body: Body, controlled: bool, innermost: bool) -> None:
        """Propagate dependence through a body.

        ``controlled``: the execution of these statements depends on such memory. ``innermost``: a
        break here leaves the analyzed loop.
        """
        for s in body:
            if isinstance(s, Assign | Declare):
                if controlled or any(self.depends(e) for e in operands(s)):
                    self.names.add(s.var.name)
            elif isinstance(s, Return) or (isinstance(s, Break) and innermost):
                self.exits = self.exits or controlled
            else:
                dependent = controlled or any(self.depends(e) for e in _conditions(s))
                for inner in bodies(s):
                    self.body(inner, dependent, innermost and isinstance(s, If))

    def depends(self, e: Expr) -> bool:
        return any(self._is_source(x) for x in expressions(e))

    def _is_source(self, e: Expr) -> bool:
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
