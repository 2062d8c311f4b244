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

Names: TypeAlias = frozenset[str]


def upward_exposed_reads(body: ir.Body) -> set[str]:
    """Return the variables that a body may read before it assigns them."""
    analysis = _UpwardExposedReads()
    analysis.block(body)
    return analysis.exposed


@dataclass(slots=True)
class _UpwardExposedReads:
    exposed: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)  # on all paths to the current statement

    def block(self, body: ir.Body, *counters: str) -> set[str] | None:
        """Return what a block assigns on all paths to its end; None if its end is unreachable."""
        new = set(counters) - self.assigned
        self.assigned |= new
        for s in body:
            counter = s.var.name if isinstance(s, ir.For) else None
            read = {name for name in names_in(*operands(s)) if name != counter}
            self.exposed |= read - self.assigned
            names = self._assigned_by(s)
            if names is None:
                self.assigned -= new
                return None
            names -= self.assigned
            self.assigned |= names
            new |= names
        self.assigned -= new
        return new

    def _assigned_by(self, s: ir.Stmt) -> set[str] | None:
        match s:
            case ir.Declare() | ir.Assign():
                return {s.var.name}
            case ir.If():
                then, orelse = self.block(s.then), self.block(s.orelse)
                if then is None or orelse is None:
                    return orelse if then is None else then
                return then & orelse
            case ir.While():
                self.block(s.body)  # the body may not be executed
            case ir.For():
                self.block(s.body, s.var.name)
            case ir.Break() | ir.Continue() | ir.Return() | ir.NextWorkItem():
                return None
        return set()


# ---- liveness after loops ----------------------------------------------------------------------


def live_after_loops(body: ir.Body, loops: Set[ir.Stmt]) -> Mapping[ir.Stmt, Names]:
    """Map each of the loops to the variables that are live after it.

    SIMD batches of threads execute the loops under an active mask. A variable is live after a loop
    if a thread reads it later before assigning it. This includes threads that wait elsewhere
    meanwhile: in the other branch of a condition, or after an outer loop.
    """
    analysis = _Liveness(loops)
    analysis.block(body, frozenset(), _Exits())
    return analysis.live_after_loop


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
    live_after_loop: dict[ir.Stmt, Names] = field(default_factory=dict)

    def block(self, body: ir.Body, live_after: Names, exits: _Exits) -> Names:
        """Return the variables that are live at the start of a block."""
        for s in reversed(body):
            live_after = self._live_before(s, live_after, exits)
        return live_after

    def _live_before(self, s: ir.Stmt, live_after: Names, exits: _Exits) -> Names:
        used = frozenset(names_in(*operands(s)))
        match s:
            case ir.Assign() | ir.Declare():
                return (live_after - {s.var.name}) | used
            case ir.Return():
                return used
            case ir.Break():
                return exits.at_break
            case ir.Continue():
                return exits.at_continue
            case ir.If():
                return used | self._arms(s, live_after, exits)
            case ir.While() | ir.For():
                return self._loop(s, live_after, live_after | used, exits.waiting)
            case _:
                nested = (self.block(b, live_after, exits) for b in bodies(s))
                return used.union(live_after, *nested)

    def _arms(self, s: ir.If, live_after: Names, exits: _Exits) -> Names:
        then = self.block(s.then, live_after, exits)
        orelse = self.block(s.orelse, live_after, exits.with_waiting(live_after, then))
        # again: while `then` runs, threads of the other branch may wait with `orelse` live
        return orelse | self.block(s.then, live_after, exits.with_waiting(live_after, orelse))

    def _loop(self, s: ir.While | ir.For, live_after: Names, head: Names, waiting: Names) -> Names:
        """Return the variables that are live at the condition of a loop.

        Iterates from ``head``, those that the condition reads or that are live after the loop.
        """
        if s in self.loops:
            self.live_after_loop[s] = (
                self.live_after_loop.get(s, frozenset()) | live_after | waiting
            )
        while True:
            at_head = head | self.block(
                s.body, head, _Exits(live_after, head, waiting | live_after | head)
            )
            if at_head == head:
                return head
            head = at_head
