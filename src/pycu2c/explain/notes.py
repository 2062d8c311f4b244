"""A note: one cost, where it is, where it comes from, what removes it. Knows no IR."""

from __future__ import annotations

from dataclasses import dataclass

from pycu2c.diagnostics import Label, excerpts

COSTS: dict[str, str] = {
    "float64": "float64 is computed many times slower than float32 on most GPUs",
    "floor": "rounding down takes more than C's division",
    "wraparound": "an index that may be negative is tested before each use",
    "index64": "an index is computed in 64 bits",
    "stride": "neighbouring threads use elements that lie apart",
    "local-array": "a local array with a computed index lives in slow memory",
}


@dataclass(frozen=True, slots=True)
class Note:
    """``labels``: the cost itself first, then its cause where that is elsewhere."""

    kind: str
    labels: tuple[Label, ...]
    cure: str

    @property
    def line(self) -> int:
        return self.labels[0].span.line


def shown(notes: list[Note]) -> str:
    """All notes in the order of the text, and how many there are of each kind."""
    if not notes:
        return "nothing here costs more than it would in hand-written CUDA C\n"
    parts = [
        "\n".join(excerpts(f"cost[{n.kind}]: {COSTS[n.kind]}", n.labels, n.cure)) for n in notes
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
            "cure": note.cure,
        }
        for note in notes
    ]
