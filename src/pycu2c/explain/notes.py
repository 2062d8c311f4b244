"""A note: one cost, where it is, where it comes from, what removes it. Knows no IR."""

from __future__ import annotations

import linecache

from pycu2c.base.diagnostics import Label, render_excerpts
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span

COSTS: dict[str, str] = {
    "float64": "float64 is computed many times slower than float32 on most GPUs",
    "floor": "rounding down takes more than C's division",
    "wraparound": "an index that may be negative is tested before each use",
    "index64": "an index is computed in 64 bits",
    "stride": "neighbouring threads use elements that lie apart",
    "bank": "neighbouring threads meet in one bank of shared memory",
    "local-array": "a local array with a computed index lives in slow memory",
}


@dataclass(frozen=True, slots=True)
class Note:
    """``labels``: the cost itself first, then its cause where that is elsewhere. ``topic`` is what
    notes of one kind have in common if one cure is for all of them; the first stands for all."""

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


def gathered(notes: list[Note]) -> list[Note]:
    """One note for each topic, in the order of the text; it says how many lines more it is for."""
    ordered = sorted(notes, key=lambda n: (n.line, n.labels[0].span.column))
    lines: dict[tuple[str, str], set[tuple[str, int]]] = {}
    first: dict[tuple[str, str], Note] = {}
    for note in ordered:
        topic = (note.kind, note.topic or str(note.cause))
        first.setdefault(topic, note)
        lines.setdefault(topic, set()).add((note.cause.file, note.line))
    return [_with_more(note, len(lines[topic]) - 1) for topic, note in first.items()]


def _with_more(note: Note, more: int) -> Note:
    if not more:
        return note
    here, *others = note.labels
    text = f"{here.text}; so {'is' if more == 1 else 'are'} {more} more line{'s' * (more > 1)}"
    return Note(note.kind, (Label(here.span, text), *others), note.hint, note.topic)


def quoted(span: Span) -> str:
    """What the user wrote there, if that is on one line."""
    line = linecache.getline(span.file, span.line)
    return line[span.column : span.end_column] if span.line == span.end_line else ""


def shown(notes: list[Note]) -> str:
    """All notes in the order of the text, and how many there are of each kind."""
    if not notes:
        return "nothing was found that costs more than it would in hand-written CUDA C\n"
    parts = [
        "\n".join(render_excerpts(f"cost[{n.kind}]: {COSTS[n.kind]}", n.labels, n.hint))
        for n in notes
    ]
    counts = {kind: sum(n.kind == kind for n in notes) for kind in COSTS}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return "\n\n".join([*parts, f"{len(notes)} in all: {summary}"]) + "\n"


def as_objects(notes: list[Note]) -> list[dict[str, object]]:
    """For ``--format json``: a list of plain objects."""
    return [
        {
            "kind": note.kind,
            "line": note.line,
            "places": [{"at": str(label.span), "text": label.text} for label in note.labels],
            "cure": note.hint,
        }
        for note in notes
    ]
