"""The stretches of a CPU kernel that its threads run one after the other: its outermost loops
over threads, and the lines of Python that each is from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise

from pycu2c.base.source import Span
from pycu2c.ir.nodes import AxisLoop, Body, Function
from pycu2c.ir.walk import bodies, statements


def regions_of(body: Body) -> Iterator[AxisLoop]:
    """The loops over threads that stand in no other, in order of the text."""
    for s in body:
        if isinstance(s, AxisLoop):
            yield s
        else:
            for inner in bodies(s):
                yield from regions_of(inner)


def lines_of_regions(kernel: Function) -> dict[AxisLoop, str]:
    """``lines 12-15`` for each region of a kernel that has several."""
    regions = list(regions_of(kernel.body))
    if len(regions) < 2:
        return {}
    head = (kernel.span.file, kernel.span.line)  # where what ends or masks threads says it is
    after = dict(pairwise(sorted(_places(kernel.body) - {head})))
    return {s: _shown(_places((s,)) - {head}, after, kernel.span) for s in regions}


_Place = tuple[str, int]  # a file and a line of it


def _places(body: Body) -> set[_Place]:
    """Where the statements of a block begin; a loop over threads stands nowhere in the Python."""
    inside = (s for s in statements(body) if not isinstance(s, AxisLoop))
    return {(s.span.file, s.span.line) for s in inside}


def _shown(places: Iterable[_Place], after: dict[_Place, _Place], kernel: Span) -> str:
    """Lines with no other statement between them are one stretch; device functions come last."""
    runs: list[list[_Place]] = []
    for place in sorted(places, key=lambda p: (not _within(p, kernel), p)):
        joined = runs and after.get(runs[-1][-1]) == place
        if joined and _within(place, kernel) == _within(runs[-1][-1], kernel):
            runs[-1].append(place)
        else:
            runs.append([place])
    if not runs:
        return ""
    several = "s" if sum(map(len, runs)) > 1 else ""
    return f"line{several} {', '.join(_run(run, kernel) for run in runs)}"


def _within(place: _Place, kernel: Span) -> bool:
    return place[0] == kernel.file and kernel.line <= place[1] <= kernel.end_line


def _run(run: list[_Place], kernel: Span) -> str:
    (file, first), (_, last) = run[0], run[-1]
    lines = str(first) if first == last else f"{first}-{last}"
    return lines if file == kernel.file else f"{lines} of {os.path.basename(file)}"
