"""Detect busy-wait loops: loops that end when another thread writes memory (locks, flags)."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands
from pycu2c.ops.intrinsics.registry import Effect


def is_busy_wait(loop: ir.For | ir.While) -> bool:
    """Return whether a loop exit depends on an atomic result, or on loads if it has a fence."""
    applications = [e for e in all_expressions((loop,)) if isinstance(e, ir.Apply)]
    memory_operations = [e for e in applications if e.intrinsic.effect is Effect.MEMORY]
    if not memory_operations:
        return False
    dependence = _DependenceAnalysis(any(not _is_atomic(e) for e in memory_operations))
    previous_count = -1
    while previous_count != len(dependence.names) + dependence.controls_exit:
        previous_count = len(dependence.names) + dependence.controls_exit
        dependence.visit(loop.body, False, True)
    is_condition = isinstance(loop, ir.While) and dependence.depends(loop.condition)
    return is_condition or dependence.controls_exit


def _is_atomic(e: ir.Apply) -> bool:
    return any(isinstance(a, ir.ElementOf) for a in e.arguments)


@dataclass(slots=True)
class _DependenceAnalysis:
    """Variables of a loop that depend on memory which other threads write."""

    loads_count: bool  # the results of loads count, not only those of atomics
    names: set[str] = field(default_factory=set)
    controls_exit: bool = False  # a dependent condition controls an exit of the loop

    def visit(self, body: ir.Body, controlled: bool, innermost: bool) -> None:
        """Propagate dependence through a body.

        ``controlled``: the execution of these statements depends on such memory. ``innermost``: a
        break here leaves the analyzed loop.
        """
        for s in body:
            if isinstance(s, ir.Assign | ir.Declare):
                if controlled or any(self.depends(e) for e in operands(s)):
                    self.names.add(s.var.name)
            elif isinstance(s, ir.Return) or (isinstance(s, ir.Break) and innermost):
                self.controls_exit = self.controls_exit or controlled
            else:
                dependent = controlled or any(self.depends(e) for e in _conditions(s))
                for inner in bodies(s):
                    self.visit(inner, dependent, innermost and isinstance(s, ir.If))

    def depends(self, e: ir.Expr) -> bool:
        return any(self._is_source(x) for x in expressions(e))

    def _is_source(self, e: ir.Expr) -> bool:
        match e:
            case ir.Apply():
                return e.intrinsic.effect is Effect.MEMORY and _is_atomic(e)
            case ir.Load():
                return self.loads_count
            case ir.Var():
                return e.name in self.names
            case _:
                return False


def _conditions(s: ir.Stmt) -> Iterator[ir.Expr]:
    if isinstance(s, ir.If | ir.While | ir.For):
        yield from operands(s)
