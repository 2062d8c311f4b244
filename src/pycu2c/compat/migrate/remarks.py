"""Define the remarks that migration reports: kind, location and hint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from pycu2c.base.diagnostics import Label, render_excerpts
from pycu2c.base.records import dataclass


class Severity(Enum):
    """What a remark requires from the user."""

    MANUAL = "by hand"  # the program fails or changes its result
    DIFFERS = "differs"  # the program runs; numbers may differ
    NOTE = "note"


@dataclass(frozen=True, slots=True, eq=False)
class RemarkKind:
    """A kind of remark and its title."""

    name: str
    severity: Severity
    title: str


ABSENT = RemarkKind("name", Severity.MANUAL, "pycu2c does not provide this name of numba.cuda")
STAR = RemarkKind("star", Severity.MANUAL, "names imported with * cannot be resolved")
TEXT = RemarkKind("text", Severity.MANUAL, "a string names numba.cuda and is not rewritten")
ENVIRONMENT = RemarkKind(
    "environment", Severity.MANUAL, "an environment variable of numba has no effect"
)
METHOD = RemarkKind("method", Severity.MANUAL, "a method of numba's kernels is not supported")
SMALL_INTEGERS = RemarkKind(
    "small-integers",
    Severity.DIFFERS,
    "numba computes 8- and 16-bit integers in 64 bits; pycu2c wraps them in their own width",
)
FLOAT64 = RemarkKind(
    "float64",
    Severity.DIFFERS,
    "a Python float is float64 in numba, and has the type of the other operand in pycu2c",
)
REMAINS = RemarkKind("numba", Severity.NOTE, "this name remains numba's")

KINDS = (ABSENT, STAR, TEXT, ENVIRONMENT, METHOD, SMALL_INTEGERS, FLOAT64, REMAINS)

_MAX_LINES = 8  # listed in a merged remark


@dataclass(frozen=True, slots=True, eq=False)
class Remark:
    """A remark; the first label is its location.

    Remarks of one kind with the same ``topic`` are merged.
    """

    kind: RemarkKind
    labels: tuple[Label, ...]
    hint: str = ""
    topic: str = ""

    @property
    def position(self) -> tuple[str, int, int]:
        span = self.labels[0].span
        return span.file, span.line, span.column

    def __str__(self) -> str:
        head = f"{self.kind.severity.value}[{self.kind.name}]: {self.kind.title}"
        return "\n".join(render_excerpts(head, self.labels, self.hint))


def sort_and_deduplicate(remarks: Iterable[Remark]) -> list[Remark]:
    """Sort remarks by severity and location, and remove duplicates."""
    severities = list(Severity)
    ordered = sorted(remarks, key=lambda r: (severities.index(r.kind.severity), *r.position))
    return list({(r.kind, r.position): r for r in reversed(ordered)}.values())[::-1]


def merge_by_topic(remarks: Iterable[Remark]) -> list[Remark]:
    """Merge the remarks of each topic into one that lists the lines of the others."""
    topics: dict[tuple[object, ...], list[Remark]] = {}
    for remark in remarks:
        key = remark.topic or remark.position
        topics.setdefault((remark.kind, key), []).append(remark)
    return [_merge(group) for group in topics.values()]


def _merge(remarks: Sequence[Remark]) -> Remark:
    first = remarks[0]
    lines = sorted({r.position[1] for r in remarks} - {first.position[1]})
    if not lines:
        return first
    shown = ", ".join(map(str, lines[:_MAX_LINES])) + " …" * (len(lines) > _MAX_LINES)
    also = f"so is line {shown}" if len(lines) == 1 else f"so are lines {shown}"
    location, *others = first.labels
    label = Label(location.span, f"{location.text}; {also}" if location.text else also)
    return Remark(first.kind, (label, *others), first.hint, first.topic)
