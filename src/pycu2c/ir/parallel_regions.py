"""Find the parallel regions of a CPU kernel, and the lines of Python that each comes from.

A parallel region is an outermost work-item loop.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise

from pycu2c.base.source import Span
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import bodies, statements


def regions_of(body: ir.Body) -> Iterator[ir.AxisLoop]:
    """Yield the outermost work-item loops, in program order."""
    for s in body:
        if isinstance(s, ir.AxisLoop):
            yield s
        else:
            for inner in bodies(s):
                yield from regions_of(inner)


def lines_of_regions(kernel: ir.Function) -> dict[ir.AxisLoop, str]:
    """Return a text such as ``lines 12-15`` for each region of a kernel with at least two."""
    regions = list(regions_of(kernel.body))
    if len(regions) < 2:
        return {}
    # statements that mask or end threads have this span
    kernel_line = (kernel.span.file, kernel.span.line)
    next_lines = dict(pairwise(sorted(_lines(kernel.body) - {kernel_line})))
    return {s: _lines_text(_lines((s,)) - {kernel_line}, next_lines, kernel.span) for s in regions}


_Line = tuple[str, int]  # file and line number


def _lines(body: ir.Body) -> set[_Line]:
    """Return the lines on which the statements of a block begin, without work-item loops."""
    inside = (s for s in statements(body) if not isinstance(s, ir.AxisLoop))
    return {(s.span.file, s.span.line) for s in inside}


def _lines_text(lines: Iterable[_Line], next_lines: dict[_Line, _Line], kernel: Span) -> str:
    """Return the line ranges of consecutive statements; device functions come last."""
    runs: list[list[_Line]] = []
    for line in sorted(lines, key=lambda p: (not _is_within(p, kernel), p)):
        is_next = runs and next_lines.get(runs[-1][-1]) == line
        if is_next and _is_within(line, kernel) == _is_within(runs[-1][-1], kernel):
            runs[-1].append(line)
        else:
            runs.append([line])
    if not runs:
        return ""
    plural = "s" if sum(map(len, runs)) > 1 else ""
    return f"line{plural} {', '.join(_run_text(run, kernel) for run in runs)}"


def _is_within(line: _Line, kernel: Span) -> bool:
    return line[0] == kernel.file and kernel.line <= line[1] <= kernel.end_line


def _run_text(run: list[_Line], kernel: Span) -> str:
    (file, first), (_, last) = run[0], run[-1]
    lines = str(first) if first == last else f"{first}-{last}"
    return lines if file == kernel.file else f"{lines} of {os.path.basename(file)}"
