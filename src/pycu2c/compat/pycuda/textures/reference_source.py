"""Rewrite texture references in CUDA C: ``texture<float, 2, cudaReadModeElementType> name;``.

CUDA 12 has removed them. A class template of that name contains a texture object and describes the
declaration. Declarations become variables in constant memory, and overloads of CUDA's functions
accept the class. Fetches are not rewritten, so they may also be in macros. The class and the
overloads are in ``headers/texture_references.hpp`` and ``headers/surface_references.hpp``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.tokens import Token, tokens_of

# members of the classes in memory order
LAYOUT = np.dtype(
    [
        ("object", np.uint64),
        ("format", np.int32),
        ("channels", np.int32),
        ("axes", np.int32),
        ("normalized", np.int32),
    ]
)


@dataclass(frozen=True, slots=True)
class RewrittenSource:
    """A rewritten text, and the names of its texture references."""

    text: str
    textures: tuple[str, ...]
    surfaces: tuple[str, ...]


_REFERENCE_KINDS = ("texture", "surface")


def rewrite_references(text: str) -> RewrittenSource:
    """Return the text with references as variables in constant memory. Lines are unchanged."""
    names: dict[str, list[str]] = {kind: [] for kind in _REFERENCE_KINDS}
    if not any(kind in text for kind in _REFERENCE_KINDS):
        return RewrittenSource(text, (), ())
    tokens = tokens_of(text)
    types: dict[str, str] = {}  # typedefs of reference types -> texture or surface
    edits: list[tuple[int, int, str]] = []
    for start, end in _statements(tokens):
        texts = [t.text for t in tokens[start:end]]
        kind = _declared_kind(texts, types)
        if kind is None:
            continue
        if texts[0] in ("typedef", "using"):
            types[texts[-1] if texts[0] == "typedef" else texts[1]] = kind
            continue
        names[kind] += _declared_names(tokens[start:end], texts)
        edits.append((tokens[start].start, tokens[start].start, "__constant__ "))
        edits += [
            (t.start, t.end, " " * len(t.text)) for t in tokens[start:end] if t.text == "static"
        ]
    return RewrittenSource(
        _apply_edits(text, edits), tuple(names["texture"]), tuple(names["surface"])
    )


def _declared_kind(texts: Sequence[str], types: dict[str, str]) -> str | None:
    """Return the kind of reference that a statement declares, also as a typedef; None if none."""
    rest = [text for text in texts if text not in ("static", "typedef")]
    if rest[:1] == ["using"]:
        rest = rest[3:]
    if not rest or "(" in texts:
        return None
    if rest[0] in _REFERENCE_KINDS and rest[1:2] == ["<"]:
        return rest[0]
    return types.get(rest[0])


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Return the ranges of declarations outside of functions, up to their semicolons."""
    start = 0
    in_body: list[bool] = []  # for each open brace: whether it belongs to a function or class
    for index, token in enumerate(tokens):
        if token.text == ";" and index > start and not any(in_body):
            yield start, index
        if token.text == "{":
            texts = [t.text for t in tokens[start:index]]
            in_body.append("namespace" not in texts and texts[:1] != ["extern"])
        elif token.text == "}" and in_body:
            in_body.pop()
        if token.kind == "directive" or token.text in ("{", "}", ";"):
            start = index + 1


def _declared_names(tokens: Sequence[Token], texts: Sequence[str]) -> list[str]:
    """Return the variables of a declaration: the comma-separated names after the type."""
    if "<" in texts:
        end_of_type = len(texts) - 1 - texts[::-1].index(">")
    else:  # the type is a typedef
        end_of_type = next(i for i, text in enumerate(texts) if text != "static")
    return [t.text for t in tokens[end_of_type + 1 :] if t.kind == "identifier"]


def _apply_edits(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Replace ranges of a text; ``edits`` are the start, end and new text of each range."""
    parts, position = [], 0
    for start, end, replacement in sorted(edits):
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])


def unpack_declaration(memory: Any) -> tuple[int, int, int, bool]:
    """Return format, channels, axes and whether values are normalized, from the memory of a
    reference."""
    (record,) = np.frombuffer(memory, LAYOUT)
    format, channels, axes = (int(record[name]) for name in ("format", "channels", "axes"))
    return format, channels, axes, bool(record["normalized"])
