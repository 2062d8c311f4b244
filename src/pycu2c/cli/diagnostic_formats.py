"""Write diagnostics as JSON: compile errors, notes on costs, findings of checks.

All have the same JSON objects, which ``docs/guide/finding_mistakes.md`` describes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from pycu2c.base.diagnostics import CompileError, Label
from pycu2c.base.spans import Span
from pycu2c.explain.notes import COSTS, Note
from pycu2c.runtime.findings import Finding

JsonObject: TypeAlias = dict[str, Any]


def compile_error_objects(error: CompileError) -> list[JsonObject]:
    """Return an object for each diagnostic of a compile error."""
    return [_object(d.code, d.severity, d.title, d.hint, d.labels) for d in error.diagnostics]


def note_objects(notes: Iterable[Note]) -> list[JsonObject]:
    """Return an object for each note."""
    return [_object(n.kind, "note", COSTS[n.kind], n.hint, n.labels) for n in notes]


def finding_objects(findings: Iterable[Finding]) -> list[JsonObject]:
    """Return an object for each finding, with the calls that lead to it as related places."""
    return [_finding_object(finding) for finding in findings]


def _finding_object(f: Finding) -> JsonObject:
    calls = (Label(call, "called here") for call in f.calls)
    labels = (Label(f.span), *calls, *f.other_labels())
    return {
        **_object(f.kind, "error", f.message, f.hint, labels),
        "count": f.count,
        "thread": f.thread,
        "block": f.block,
        "array": f.array,
        "index": f.index,
        "shape": f.shape,
        **({"other_thread": f.other_thread, "other_block": f.other_block} if f.other_span else {}),
    }


def _object(kind: str, severity: str, title: str, hint: str, labels: Sequence[Label]) -> JsonObject:
    text = labels[0].text if labels else ""
    return {
        "kind": kind,
        "severity": severity,
        "message": f"{title}: {text}" if text else title,
        "hint": hint,
        "location": _location_object(labels[0].span) if labels else None,
        "related": [
            {**_location_object(label.span), "message": label.text} for label in labels[1:]
        ],
    }


def _location_object(span: Span) -> JsonObject:
    """Return a location: lines and columns count from 1, and the end is excluded."""
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }


def as_json(objects: Sequence[JsonObject]) -> str:
    """Return the text of a JSON list."""
    return json.dumps(objects, indent=2)
