"""Observers of launches: tools that measure the kernels compiled while they are registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any, TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.runtime.runner import Runner

# by file: pairs of a line and the line after it; an exit is the negative line of the definition
Arcs: TypeAlias = Mapping[str, Set[tuple[int, int]]]


@dataclass(frozen=True, slots=True, eq=False)
class LaunchObserver:
    """A tool that measures launches. Observed kernels are not stored in the kernel cache.

    wrap: returns a runner in place of that of a kernel (``kernels.specialization.Specialization``).
    record_lines: receives the lines that a launch has executed, after it.
    """

    wrap: Callable[[Any, Runner], Runner] | None = None
    record_lines: Callable[[Arcs], None] | None = None


OBSERVERS: list[LaunchObserver] = []


def line_recorders() -> list[Callable[[Arcs], None]]:
    return [o.record_lines for o in OBSERVERS if o.record_lines is not None]
