"""The lines that launches execute, for a tool that measures coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TypeAlias

# by file: pairs of a line and the line after it; an exit is the negative line of the definition
Arcs: TypeAlias = Mapping[str, Set[tuple[int, int]]]

# are called after each launch; a kernel that is compiled while there are none records nothing
RECORDERS: list[Callable[[Arcs], None]] = []


def record(arcs: Arcs) -> None:
    for recorder in RECORDERS:
        recorder(arcs)
