"""Detect busy-wait loops: loops that end when another thread writes memory (locks, flags)."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands
from pycu2c.ops.intrinsics.registry import Effect


def is_busy_wait(loop: ir.For | ir.While) -> bool:
    """Return whether a loop exit depends on an atomic result, or on loads if it has a fence."""
    inside = [e for e in all_expressions((loop,)) if isinstance(e, ir.Apply)]
    memory = [e for e in inside if e.intrinsic.effect is Effect.MEMORY]
    if not memory:
        return False
    found = _DependenceAnalysis(any(not _is_atomic(e) for e in memory))
    before = -1
    while before != len(found.names) + found.exits:
        before = len(found.names) + found.exits
        found.body(loop.body, False, True)
    ends = isinstance(loop, ir.While) and found.depends(loop.condition)
    return ends or found.exits


def _is_atomic(e: ir.Apply) -> bool:
    return any(isinstance(a, ir.ElementOf) for a in e.arguments)


@dataclass(slots=True)
class _DependenceAnalysis:
    """Variables of a loop that depend on memory which other threads write."""

    reads: bool  # loads count as well as atomics
    names: set[str] = field(default_factory=set)
    exits: bool = False  # a dependent condition controls an exit of the loop

    def body(self, body: ir.Body, controlled: bool, innermost: bool) -> None:
        """Propagate dependence through a body.

        ``controlled``: the execution of these statements depends on such memory. ``innermost``: a
        break here leaves the analyzed loop.
        """
        for s in body:
            if isinstance(s, ir.Assign | ir.Declare):
                if controlled or any(self.depends(e) for e in operands(s)):
                    self.names.add(s.var.name)
            elif isinstance(s, ir.Return) or (isinstance(s, ir.Break) and innermost):
                self.exits = self.exits or controlled
            else:
                dependent = controlled or any(self.depends(e) for e in _conditions(s))
                for inner in bodies(s):
                    self.body(inner, dependent, innermost and isinstance(s, ir.If))

    def depends(self, e: ir.Expr) -> bool:
        return any(self._is_source(x) for x in expressions(e))

    def _is_source(self, e: ir.Expr) -> bool:
        match e:
            case ir.Apply():
                return e.intrinsic.effect is Effect.MEMORY and _is_atomic(e)
            case ir.Load():
                return self.reads
            case ir.Var():
                return e.name in self.names
            case _:
                return False


def _conditions(s: ir.Stmt) -> Iterator[ir.Expr]:
    if isinstance(s, ir.If | ir.While | ir.For):
        yield from operands(s)
