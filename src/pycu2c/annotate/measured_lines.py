"""What an execution profile says of each line of Python: numbers to color it by, and remarks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pycu2c.annotate.execution_profile import (
    SECTOR,
    AccessTotals,
    BranchTotals,
    ExecutionProfile,
)
from pycu2c.annotate.listings import Origin
from pycu2c.base.spans import Span
from pycu2c.base.types import MemorySpace
from pycu2c.interpreter.observation import AccessSite
from pycu2c.ops.intrinsics.reference_thread import WARP

EXECUTIONS = "executions per thread"
BYTES = "bytes of global memory per thread"
PASSES = "passes through shared memory per warp"
KINDS = (EXECUTIONS, BYTES, PASSES)


def line_numbers(profile: ExecutionProfile) -> dict[Origin, dict[str, float]]:
    """Return the numbers of each line."""
    numbers: dict[Origin, dict[str, float]] = {}
    threads = max(profile.threads, 1)
    for span, count in profile.statements.items():
        row = numbers.setdefault(_origin(span), {})
        row[EXECUTIONS] = max(row.get(EXECUTIONS, 0), round(count / threads, 2))
    for site, totals in profile.accesses.items():
        row = numbers.setdefault(_origin(site.span), {})
        if site.space is MemorySpace.GLOBAL:
            row[BYTES] = round(row.get(BYTES, 0) + totals.cost * SECTOR / threads, 2)
        elif site.space is MemorySpace.SHARED:
            row[PASSES] = round(row.get(PASSES, 0) + totals.cost * WARP / threads, 2)
    return numbers


def line_remarks(profile: ExecutionProfile) -> dict[Origin, list[str]]:
    """Return the remarks on accesses and branches of each line."""
    remarks: dict[Origin, list[str]] = {}
    for site, totals in profile.accesses.items():
        remarks.setdefault(_origin(site.span), []).extend(_access(site, totals))
    for span, branch in profile.branches.items():
        remarks.setdefault(_origin(span), []).append(_branch(branch))
    return {origin: list(dict.fromkeys(texts)) for origin, texts in remarks.items()}


def _origin(span: Span) -> Origin:
    """Return the line of a span; a program that is run may name its file by a relative path."""
    return os.path.realpath(span.file), span.line


def _access(site: AccessSite, totals: AccessTotals) -> Iterator[str]:
    cost, ideal = (n / totals.requests for n in (totals.cost, totals.ideal))
    if site.space is MemorySpace.GLOBAL:
        advice = "" if cost <= 1.5 * ideal else f"; adjacent elements would take {ideal:.2g}"
        yield f"{site.what} {site.array}: {cost:.3g} sectors of {SECTOR} bytes per request{advice}"
    elif site.space is MemorySpace.SHARED and cost > 1.05 * ideal:
        yield f"{site.what} {site.array}: bank conflicts, {cost:.3g} passes per request"


def _branch(totals: BranchTotals) -> str:
    taken = f"true in {totals.taken / totals.evaluated:.0%} of {totals.evaluated:,} evaluations"
    if not totals.divergent:
        return f"branch: {taken}; no warp diverges"
    return f"branch: {taken}; {totals.divergent / totals.warps:.0%} of warps diverge"
