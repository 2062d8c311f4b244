"""The state of the reaching-definitions analysis at one point."""

from __future__ import annotations

import ast
from typing import TypeAlias

from pycu2c.base.records import dataclass

Definition: TypeAlias = ast.AST | None  # None: unassigned at the function's start
NOTHING: frozenset[Definition] = frozenset([None])


@dataclass(frozen=True, slots=True)
class ReachingState:
    """The definitions of each local that may reach a point.

    An unreachable point (``live`` is False) keeps the definitions of the text before it, so that
    names in dead code resolve. It adds nothing to reachable code.
    """

    sets: dict[str, frozenset[Definition]]
    live: bool = True

    def after(self, name: str, definition: ast.AST) -> ReachingState:
        return ReachingState({**self.sets, name: frozenset([definition])}, self.live)

    def dead(self) -> ReachingState:
        return ReachingState(self.sets, live=False)


def join(*points: ReachingState) -> ReachingState:
    """Return the state where paths join."""
    live = [p for p in points if p.live]
    first, *rest = live or points
    sets = {name: seen.union(*(p.sets[name] for p in rest)) for name, seen in first.sets.items()}
    return ReachingState(sets, bool(live))
