"""Write an annotation as one HTML page that needs no network."""

from __future__ import annotations

import importlib.resources
import io
import json
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template

from pycu2c.annotate import measured_lines
from pycu2c.annotate.annotation import Annotation, Types
from pycu2c.annotate.execution_profile import ExecutionProfile
from pycu2c.annotate.instruction_costs import KINDS
from pycu2c.annotate.listings import Line, Listing, Origin
from pycu2c.explain.notes import COSTS, Note, format_notes

_C_TOKENS = re.compile(
    r"(?P<comment>//.*)|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<keyword>\b(?:if|else|for|while|do|"
    r"return|break|continue|switch|case|goto|const|static|inline|struct|void|int|float|double|bool|"
    r"char|short|long|unsigned|extern|__\w+__|u?int\d+_t|dim3)\b)"
)


def page(annotation: Annotation) -> str:
    """Return the page."""
    files = _FileNumbers()
    remarks, costs = _remarks(annotation), _costs(annotation)
    python = "".join(
        _python_line(line, files, _types_at(line.origin, annotation), costs, remarks)
        for line in annotation.python.lines
    )
    kinds = [*(measured_lines.KINDS if annotation.profile else ()), *KINDS]
    columns = [
        _column([(annotation.python, python)]),
        _column([(x, _lines(x, files, is_c=True)) for x in annotation.generated]),
        _column([(x, _lines(x, files)) for x in annotation.instructions]),
    ]
    text = Template(_template("page.html")).substitute(
        title=escape(annotation.name),
        signature=escape(f"{annotation.name}({annotation.signature}) for {annotation.arch}"),
        resources=_resources(annotation),
        metrics="".join(f"<option>{escape(kind)}</option>" for kind in kinds),
        columns="\n".join(columns),
        notes=_notes(annotation.notes),
        style=_template("page.css").strip(),
        script=_template("page.js").strip(),
    )
    return files.without_folders(text)


def frame(annotation: Annotation, height: int = 640) -> str:
    """Return the page as an element of another page, such as a notebook."""
    return (
        f'<iframe srcdoc="{escape(page(annotation))}" style="width: 100%; height: {height}px; '
        f'border: 0" title="{escape(annotation.name)} in all languages"></iframe>'
    )


def _template(name: str) -> str:
    return (importlib.resources.files("pycu2c.annotate") / "templates" / name).read_text("utf-8")


class _FileNumbers:
    """Numbers of files; a page does not name folders of the machine."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def key(self, origin: Origin) -> str:
        """Return the attribute of a line that belongs to an origin."""
        if origin is None:
            return ""
        number = self._numbers.setdefault(origin[0], len(self._numbers))
        return f' data-origin="{number}:{origin[1]}"'

    def without_folders(self, text: str) -> str:
        """Return a page with the names of files in place of their paths."""
        for file in self._numbers:
            text = text.replace(escape(file), escape(Path(file).name))
        return text


def _column(listings: Iterable[tuple[Listing, str]]) -> str:
    buttons, bodies = [], []
    for k, (listing, lines) in enumerate(listings):
        selected = "false" if k else "true"
        name = escape(listing.name)
        buttons.append(f'<button aria-selected="{selected}">{name}</button>')
        missing = f'<p class="missing">{escape(listing.missing)}</p>' if listing.missing else ""
        hidden = " hidden" if k else ""
        bodies.append(f'<div class="listing" data-name="{name}"{hidden}>{missing}{lines}</div>')
    return f'<section><div class="tabs">{"".join(buttons)}</div>{"".join(bodies)}</section>'


# ---- lines -----------------------------------------------------------------------------------


def _lines(listing: Listing, files: _FileNumbers, is_c: bool = False) -> str:
    return "".join(
        f'<div class="line"{files.key(line.origin)}><span class="gutter">{number}</span>'
        f"<span>{_c(line.text) if is_c else escape(line.text.expandtabs(4))}</span></div>\n"
        for number, line in enumerate(listing.lines, 1)
    )


def _c(text: str) -> str:
    """Return a line of C with its keywords, strings and comments marked."""
    parts, end = [], 0
    for found in _C_TOKENS.finditer(text):
        parts += [escape(text[end : found.start()]), _span(found.lastgroup or "", found[0])]
        end = found.end()
    return "".join([*parts, escape(text[end:])])


def _span(kind: str, text: str, title: str = "") -> str:
    hover = f' title="{escape(title)}"' if title else ""
    return f'<span class="{kind}"{hover}>{escape(text)}</span>'


def _python_line(
    line: Line,
    files: _FileNumbers,
    types: Types,
    costs: Mapping[Origin, Mapping[str, float]],
    remarks: Mapping[Origin, Iterable[str]],
) -> str:
    own_costs = costs.get(line.origin)
    numbers = f' data-costs="{escape(json.dumps(own_costs))}"' if own_costs else ""
    own_remarks = "".join(
        f'<div class="note">▸ {escape(text)}</div>\n' for text in remarks.get(line.origin, ())
    )
    return (
        f'<div class="line"{files.key(line.origin)}{numbers}>'
        f'<span class="gutter">{line.number or ""}</span><span class="count"></span>'
        f"<span>{''.join(_python(line.text, types))}</span></div>\n{own_remarks}"
    )


def _types_at(origin: Origin, annotation: Annotation) -> Types:
    """Return the types of the names of the function that a line belongs to: the last before it."""
    if origin is None:
        return {}
    file, number = origin
    starts = [line for name, line in annotation.types if name == file and line <= number]
    return annotation.types[file, max(starts)] if starts else {}


def _python(text: str, types: Mapping[str, Mapping[str, None]]) -> Iterator[str]:
    """Yield a line of Python with its keywords, strings and comments marked, and typed names."""
    end = 0
    for token in _tokens(text):
        start = token.start[1]
        yield escape(text[end:start])
        end = token.end[1] if token.end[0] == token.start[0] else len(text)
        piece = text[start:end]
        if token.type == tokenize.COMMENT:
            yield _span("comment", piece)
        elif token.type == tokenize.STRING:
            yield _span("string", piece)
        elif token.type == tokenize.NAME and keyword.iskeyword(piece):
            yield _span("keyword", piece)
        elif token.type == tokenize.NAME and piece in types:
            yield _span("name", piece, f"{piece}: {', '.join(types[piece])}")
        else:
            yield escape(piece)
    yield escape(text[end:])


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of one line, as far as it is a program of its own."""
    shown = (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING, tokenize.COMMENT)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in shown and token.start[0] == 1:
                yield token
    except (tokenize.TokenError, SyntaxError):  # the line is part of a longer statement
        return


# ---- resources and notes -----------------------------------------------------------------------


def _resources(annotation: Annotation) -> str:
    """Return the resources of the kernel on a GPU, if NVRTC is installed, and what was run."""
    facts = {**_gpu_resources(annotation), **_run(annotation.profile)}
    items = (f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items())
    return f'<dl class="resources">{"".join(items)}</dl>' if facts else ""


def _run(profile: ExecutionProfile | None) -> dict[str, str]:
    if profile is None:
        return {}
    stopped = f"; {profile.stopped}" if profile.stopped else ""
    launches = f"{profile.launches} launch{'' if profile.launches == 1 else 'es'}"
    return {"Measured": f"{profile.threads:,} threads of {launches}{stopped}"}


def _gpu_resources(annotation: Annotation) -> dict[str, str]:
    resources, occupancy = annotation.resources, annotation.occupancy
    if resources is None or occupancy is None:
        return {}
    return {
        "Registers per thread": str(resources.registers),
        "Spilled bytes": str(resources.spill_bytes),
        "Local bytes per thread": str(resources.local_bytes),
        "Shared bytes per block": str(resources.shared_bytes),
        f"Occupancy with {annotation.threads} threads per block": (
            f"{occupancy.fraction:.0%}, limited by {occupancy.limited_by}"
        ),
    }


def _costs(annotation: Annotation) -> dict[Origin, dict[str, float]]:
    """Return the numbers of lines, from machine instructions and from the run."""
    costs: dict[Origin, dict[str, float]] = {k: dict(v) for k, v in annotation.costs.items()}
    if annotation.profile:
        for origin, numbers in measured_lines.line_numbers(annotation.profile).items():
            costs.setdefault(origin, {}).update(numbers)
    return costs


def _remarks(annotation: Annotation) -> dict[Origin, list[str]]:
    """Return the remarks below lines: notes on costs, and what was measured."""
    profile = annotation.profile
    found = measured_lines.line_remarks(profile) if profile else {}
    for note in annotation.notes:
        text = f"{note.kind}: {note.labels[0].text}"
        found.setdefault((note.labels[0].span.file, note.line), []).append(text)
    return {origin: list(dict.fromkeys(texts)) for origin, texts in found.items()}


def _notes(notes: tuple[Note, ...]) -> str:
    """Return the section with the explanations of the notes."""
    if not notes:
        return ""
    kinds = ", ".join(dict.fromkeys(COSTS[note.kind] for note in notes))
    return (
        f'<section class="notes"><h2>Costs on a GPU</h2><p>{escape(kinds)}.</p>'
        f"<pre>{escape(format_notes(list(notes)))}</pre></section>"
    )
