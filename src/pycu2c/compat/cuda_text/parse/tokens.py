"""Tokenize CUDA C: identifiers, numbers, literals, punctuators, directives, with offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\\\n)+)
    |(?P<comment>//(?:\\\n|[^\n])*|/\*[\s\S]*?(?:\*/|\Z))
    |(?P<literal>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\([\s\S]*?\)(?P=fence)"
        |(?:u8|[uUL])?"(?:\\[\s\S]|[^"\\\n])*"
        |(?:u8|[uUL])?'(?:\\[\s\S]|[^'\\\n])*')
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<identifier>[^\W\d][\w$]*)
    |(?P<punctuator><<<|>>>|::|->|[^\w\s])""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"#(?:\\\n|/\*[\s\S]*?\*/|[^\n])*")
OPENING, CLOSING = "([{", ")]}"


class Token(NamedTuple):
    """A token. ``kind``: identifier, number, literal, punctuator or directive.

    ``start`` and ``end`` are offsets in the text.
    """

    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Return all tokens, without whitespace and comments. A preprocessor directive is one token."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    offset, is_first = 0, True  # at the first token of a line
    while offset < len(text):
        if is_first and text[offset] == "#":
            found = _DIRECTIVE.match(text, offset)
            assert found
            yield Token("directive", found[0], offset, found.end())
            offset = found.end()
            continue
        match = _TOKEN.match(text, offset)
        if match is None:  # an unterminated literal: the compiler reports it
            offset += 1
            continue
        kind = match.lastgroup or ""
        kind = "literal" if kind == "fence" else kind
        offset = match.end()
        if kind in ("space", "comment"):
            is_first = is_first or "\n" in match[0]
            continue
        is_first = False
        yield Token(kind, match[0], match.start(), offset)


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Return the index of the matching bracket; the number of tokens if there is none."""
    depth = 0
    for index in range(opening, len(tokens)):
        token = tokens[index]
        if token.kind != "punctuator":
            continue
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
            if depth == 0:
                return index
    return len(tokens)


_OPERATORS = {
    "<<=", ">>=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=",
    ">=", "&&", "||", "<<", ">>",
}  # fmt: skip


def merge_operators(tokens: Sequence[Token]) -> list[Token]:
    """Merge adjacent punctuators that form one operator, such as ``+=``."""
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else token
        if last.kind == token.kind == "punctuator" and last.end == token.start:
            if last.text + token.text in _OPERATORS:
                found[-1] = Token("punctuator", last.text + token.text, last.start, token.end)
                continue
        found.append(token)
    return found


_LINE = re.compile(r'#\s*line\s+(\d+)(?:\s+"([^"]+)")?')


class Origins:
    """Maps offsets to files and lines, as given by ``#line`` directives."""

    def __init__(self, text: str, name: str, tokens: Sequence[Token]) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._line_directives = [(1, name, 1)]  # (line in the text, file, line in the file)
        for token in tokens:
            found = _LINE.match(token.text) if token.kind == "directive" else None
            if found:
                name = found[2] or name
                self._line_directives.append(
                    (bisect_right(self._starts, token.end) + 1, name, int(found[1]))
                )

    def locate(self, offset: int) -> tuple[str, int, int]:
        """Return the file, the line (from 1) and the column (from 0) of an offset."""
        line = bisect_right(self._starts, offset)
        after = bisect_right(self._line_directives, line, key=lambda directive: directive[0])
        first, name, number = self._line_directives[after - 1]
        return name, number + line - first, offset - self._starts[line - 1]
