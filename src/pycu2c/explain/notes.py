"""Notes: a cost, its source position, its cause, and a hint."""

from __future__ import annotations

import linecache

from pycu2c.base.diagnostics import Label, render_excerpts
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span

COSTS: dict[str, str] = {
    "float64": "float64 is computed many times slower than float32 on most GPUs",
    "division": "a float division takes several times as long as a multiplication",
    "floor": "rounding down takes more than C's division",
    "wraparound": "an index that may be negative is tested before each use",
    "index64": "an index is computed in 64 bits",
    "stride": "neighbouring threads access elements that are not adjacent",
    "bank": "neighbouring threads access the same bank of shared memory",
    "local-array": "a local array is in slow memory",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A cost. ``labels``: the cost, then its cause if that is elsewhere.

    Notes of one kind and ``topic`` have the same hint; only the first is reported.
    """

    kind: str
    labels: tuple[Label, ...]
    hint: str
    topic: str = ""

    @property
    def line(self) -> int:
        return self.labels[0].span.line

    @property
    def cause(self) -> Span:
        return self.labels[-1].span


def merge_notes(notes: list[Note]) -> list[Note]:
    """Return one note per topic in source order, with the number of further_lines lines."""
    ordered = sorted(notes, key=lambda n: (n.line, n.labels[0].span.column))
    lines: dict[tuple[str, str], set[tuple[str, int]]] = {}
    first_notes: dict[tuple[str, str], Note] = {}
    for note in ordered:
        topic = (note.kind, note.topic or str(note.cause))
        first_notes.setdefault(topic, note)
        lines.setdefault(topic, set()).add((note.cause.file, note.line))
    return [_with_line_count(note, len(lines[topic]) - 1) for topic, note in first_notes.items()]


def _with_line_count(note: Note, further_lines: int) -> Note:
    if not further_lines:
        return note
    cost, *causes = note.labels
    verb, noun = ("is", "line") if further_lines == 1 else ("are", "lines")
    text = f"{cost.text}; so {verb} {further_lines} more {noun}"
    return Note(note.kind, (Label(cost.span, text), *causes), note.hint, note.topic)


def quoted(span: Span) -> str:
    """Return the source text of a span on one line, else an empty string."""
    line = linecache.getline(span.file, span.line)
    return line[span.column : span.end_column] if span.line == span.end_line else ""


def format_notes(notes: list[Note]) -> str:
    """Return all notes in source order as text, and the number of each kind."""
    if not notes:
        return "nothing was found that costs more than it would in hand-written CUDA C\n"
    parts = [
        "\n".join(render_excerpts(f"cost[{n.kind}]: {COSTS[n.kind]}", n.labels, n.hint))
        for n in notes
    ]
    counts = {kind: sum(n.kind == kind for n in notes) for kind in COSTS}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return "\n\n".join([*parts, f"{len(notes)} in all: {summary}"]) + "\n"
