"""Write diagnostics as JSON and SARIF: compile errors, notes on costs, findings of checks.

All have the same JSON objects, which ``docs/guide/finding_mistakes.md`` describes. SARIF is built
from them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import click

from pycu2c import __version__
from pycu2c.base.diagnostics import ERROR_PAGES, CompileError, Label, error_codes, rule
from pycu2c.base.output.message_styles import for_stream
from pycu2c.base.spans import Span
from pycu2c.explain.notes import COSTS, Note
from pycu2c.runtime.findings import Finding

JsonObject: TypeAlias = dict[str, Any]

_FINDINGS = {
    "out-of-bounds": "an index is outside of its array",
    "uninitialized": "a value is read that no thread has written",
    "arithmetic": "an operation has no result: a division by 0, a shift, a conversion",
    "race": "two threads access an element without an order, and one of them writes",
    "divergent-barrier": "some threads of a block do not reach a barrier that the others wait at",
    "warp-sync": "a warp operation names a thread that does not execute it",
    "deadlock": "threads wait for each other",
    "assertion": "a thread raises an exception, or an assertion fails",
}
_TITLES = _FINDINGS | COSTS


def compile_error_objects(error: CompileError) -> list[JsonObject]:
    """Return an object for each diagnostic of a compile error."""
    return [_object(d.code, d.severity, d.title, d.hint, d.labels) for d in error.diagnostics]


def note_objects(notes: Iterable[Note]) -> list[JsonObject]:
    """Return an object for each note."""
    return [_object(n.kind, "note", _TITLES[n.kind], n.hint, n.labels) for n in notes]


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


# ---- text of a file ----------------------------------------------------------------------------


def as_json(objects: Sequence[JsonObject]) -> str:
    """Return the text of a JSON list."""
    return json.dumps(objects, indent=2)


def as_sarif(objects: Sequence[JsonObject]) -> str:
    """Return the text of a SARIF 2.1.0 log. Files in the working directory have relative URIs."""
    kinds = sorted({o["kind"] for o in objects})
    driver = {"name": "pycu2c", "version": __version__, "rules": list(map(_rule, kinds))}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(o, kinds.index(o["kind"])) for o in objects],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


FORMATS: dict[str, Callable[[Sequence[JsonObject]], str]] = {"json": as_json, "sarif": as_sarif}
_ERROR_FORMAT = "pycu2c.error_format"  # of a command, in the context of click


def set_error_format(output_format: str) -> None:
    """Set the format in which the running command reports a compile error."""
    click.get_current_context().meta[_ERROR_FORMAT] = output_format


def report_error(error: CompileError) -> None:
    """Print a compile error: JSON and SARIF to stdout, text to stderr."""
    write = FORMATS.get(click.get_current_context().meta.get(_ERROR_FORMAT, "text"))
    if write:
        click.echo(write(compile_error_objects(error)))
        return
    hint = f"`pycu2c errors {error.code}` shows an example and its correction."
    click.echo(f"{for_stream(str(error), sys.stderr)}\n\n{hint}", err=True, color=True)


def _rule(kind: str) -> JsonObject:
    if kind in error_codes():
        page = (ERROR_PAGES / f"{kind}.md").read_text(encoding="utf-8")
        title, text = rule(kind), page.translate(str.maketrans("", "", "«»"))
    else:
        title = text = _TITLES[kind]
    texts = {"text": text, "markdown": text}
    return {"id": kind, "shortDescription": {"text": title}, "help": texts}


def _result(diagnostic: JsonObject, rule_index: int) -> JsonObject:
    related = enumerate(diagnostic["related"], 1)
    location, hint = diagnostic["location"], diagnostic["hint"]
    return {
        "ruleId": diagnostic["kind"],
        "ruleIndex": rule_index,
        "level": diagnostic["severity"],
        "message": {"text": diagnostic["message"] + (f"\nhelp: {hint}" if hint else "")},
        "locations": [_location(location)] if location else [],
        "relatedLocations": [
            {"id": number, **_location(other), "message": {"text": other["message"]}}
            for number, other in related
        ],
        "properties": {key: diagnostic[key] for key in _PROPERTIES if key in diagnostic},
    }


_PROPERTIES = ("count", "thread", "block", "array", "index", "shape")


def _location(location: JsonObject) -> JsonObject:
    region = {
        "startLine": location["line"],
        "startColumn": location["column"],
        "endLine": location["end_line"],
        "endColumn": location["end_column"],
    }
    artifact = {"uri": _uri(location["file"])}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _uri(file: str) -> str:
    if file.startswith("<"):  # a notebook cell, or code of exec
        return quote(file)
    path = Path(file).absolute()
    if path.is_relative_to(Path.cwd()):
        return quote(path.relative_to(Path.cwd()).as_posix())
    return path.as_uri()
