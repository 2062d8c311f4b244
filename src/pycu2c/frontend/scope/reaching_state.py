"""What may have bound each local last, at one point of a function."""

from __future__ import annotations

import ast
from typing import TypeAlias

from pycu2c.base.records import dataclass

Definition: TypeAlias = ast.AST | None  # None: the function's start, where nothing is assigned
NOTHING: frozenset[Definition] = frozenset([None])


@dataclass(frozen=True, slots=True)
class ReachingState:
    """What may have bound each local last. A point that cannot run (``live`` is False) keeps
    what the text before it suggests, so that dead code has names; it adds nothing to live code."""

    sets: dict[str, frozenset[Definition]]
    live: bool = True

    def after(self, name: str, definition: ast.AST) -> ReachingState:
        return ReachingState({**self.sets, name: frozenset([definition])}, self.live)

    def dead(self) -> ReachingState:
        return ReachingState(self.sets, live=False)


def join(*points: ReachingState) -> ReachingState:
    """What reaches the place where several paths meet."""
    live = [p for p in points if p.live]
    first, *rest = live or points
    sets = {name: seen.union(*(p.sets[name] for p in rest)) for name, seen in first.sets.items()}
    return ReachingState(sets, bool(live))
