"""Liveness of variables: reads before assignments, and variables that are live after loops.

The input is the code of one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias

from pycu2c.analysis.variables import names_in
from pycu2c.base.records import dataclass, field, replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import bodies, operands

Assigned: TypeAlias = "frozenset[str] | None"  # definitely assigned; None: unreachable
Names: TypeAlias = frozenset[str]


def upward_exposed_reads(body: ir.Body) -> set[str]:
    """Return the variables that a body may read before it assigns them."""
    analysis = _UpwardExposedReads()
    analysis.block(body, frozenset())
    return analysis.found


@dataclass(slots=True)
class _UpwardExposedReads:
    found: set[str] = field(default_factory=set)

    def block(self, body: ir.Body, assigned: Assigned) -> Assigned:
        for s in body:
            if assigned is None:
                return None
            self.found |= set(names_in(*operands(s))) - assigned - _counter(s)
            assigned = self._transfer(s, assigned)
        return assigned

    def _transfer(self, s: ir.Stmt, assigned: frozenset[str]) -> Assigned:
        match s:
            case ir.Declare() | ir.Assign():
                return assigned | {s.var.name}
            case ir.If():
                then, orelse = self.block(s.then, assigned), self.block(s.orelse, assigned)
                if then is None or orelse is None:
                    return orelse if then is None else then
                return then & orelse
            case ir.While() | ir.For():
                self.block(s.body, assigned | _counter(s))
                return assigned  # the body may not be executed
            case ir.Break() | ir.Continue() | ir.Return() | ir.NextWorkItem():
                return None
            case _:
                return assigned


def _counter(s: ir.Stmt) -> frozenset[str]:
    return frozenset({s.var.name}) if isinstance(s, ir.For) else frozenset()


# ---- liveness after loops ----------------------------------------------------------------------


def live_after_loops(body: ir.Body, loops: Set[ir.Stmt]) -> Mapping[ir.Stmt, Names]:
    """Map each of the loops to the variables that are live after it.

    SIMD batches of threads execute the loops under an active mask. A variable is live after a loop
    if a thread reads it later before assigning it. This includes threads that wait elsewhere
    meanwhile: in the other branch of a condition, or behind an outer loop.
    """
    analysis = _Liveness(loops)
    analysis.block(body, frozenset(), _Exits())
    return analysis.after


@dataclass(frozen=True, slots=True)
class _Exits:
    """Variables that are live at the targets of break and continue, and in waiting threads."""

    at_break: Names = frozenset()
    at_continue: Names = frozenset()
    waiting: Names = frozenset()

    def with_waiting(self, *live: Names) -> _Exits:
        """Return the exits of a block that some threads skip; ``live`` is live in these threads."""
        return replace(self, waiting=self.waiting.union(*live))


@dataclass(slots=True)
class _Liveness:
    loops: Set[ir.Stmt]
    after: dict[ir.Stmt, Names] = field(default_factory=dict)

    def block(self, body: ir.Body, after: Names, exits: _Exits) -> Names:
        """Return the variables that are live at the start of a block."""
        for s in reversed(body):
            after = self._before(s, after, exits)
        return after

    def _before(self, s: ir.Stmt, after: Names, exits: _Exits) -> Names:
        used = frozenset(names_in(*operands(s)))
        match s:
            case ir.Assign() | ir.Declare():
                return (after - {s.var.name}) | used
            case ir.Return():
                return used
            case ir.Break():
                return exits.at_break
            case ir.Continue():
                return exits.at_continue
            case ir.If():
                return used | self._arms(s, after, exits)
            case ir.While() | ir.For():
                return self._loop(s, after, after | used, exits.waiting)
            case _:
                nested = (self.block(b, after, exits) for b in bodies(s))
                return used.union(after, *nested)

    def _arms(self, s: ir.If, after: Names, exits: _Exits) -> Names:
        then = self.block(s.then, after, exits)
        orelse = self.block(s.orelse, after, exits.with_waiting(after, then))
        return orelse | self.block(s.then, after, exits.with_waiting(after, orelse))

    def _loop(self, s: ir.While | ir.For, after: Names, head: Names, waiting: Names) -> Names:
        """Solve a loop; ``head`` is live where the condition is evaluated, or after the loop."""
        if s in self.loops:
            self.after[s] = self.after.get(s, frozenset()) | after | waiting
        while True:
            at_head = head | self.block(s.body, head, _Exits(after, head, waiting | after | head))
            if at_head == head:
                return head
            head = at_head
