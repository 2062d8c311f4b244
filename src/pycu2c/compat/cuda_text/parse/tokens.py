"""CUDA C as a row of tokens. Knows no grammar: words, numbers, texts, marks,
and where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from pycu2c.base.records import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\\\n)+)
    |(?P<comment>//(?:\\\n|[^\n])*|/\*[\s\S]*?(?:\*/|\Z))
    |(?P<text>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\([\s\S]*?\)(?P=fence)"
        |(?:u8|[uUL])?"(?:\\[\s\S]|[^"\\\n])*"
        |(?:u8|[uUL])?'(?:\\[\s\S]|[^'\\\n])*')
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<mark><<<|>>>|::|->|[^\w\s])""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"#(?:\\\n|/\*[\s\S]*?\*/|[^\n])*")
OPENING, CLOSING = "([{", ")]}"


class Token(NamedTuple):
    """``kind``: word, number, text, mark, directive. ``start`` and ``end`` are places in the
    text."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """All tokens, without space and comments; a directive of the preprocessor is one."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    place, is_first = 0, True  # of its line
    while place < len(text):
        if is_first and text[place] == "#":
            found = _DIRECTIVE.match(text, place)
            assert found
            yield Token("directive", found[0], place, found.end())
            place = found.end()
            continue
        match = _TOKEN.match(text, place)
        if match is None:  # a quote that nothing ends: the compiler says so
            place += 1
            continue
        kind = match.lastgroup or ""
        kind = "text" if kind == "fence" else kind
        place = match.end()
        if kind in ("space", "comment"):
            is_first = is_first or "\n" in match[0]
            continue
        is_first = False
        yield Token(kind, match[0], match.start(), place)


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The index of the bracket that ends what one opens; that after the last if none does."""
    depth = 0
    for index in range(opening, len(tokens)):
        token = tokens[index]
        if token.kind != "mark":
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
    """The same with operators of several marks as one token each."""
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else token
        if last.kind == token.kind == "mark" and last.end == token.start:
            if last.text + token.text in _OPERATORS:
                found[-1] = Token("mark", last.text + token.text, last.start, token.end)
                continue
        found.append(token)
    return found


def split_arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """What commas separate that stand in no brackets."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "mark":
            depth += token.text in (*OPENING, "<")
            depth -= token.text in (*CLOSING, ">")
            depth -= 3 * (token.text == ">>>")
            if token.text == "," and depth == 0:
                found.append([])
                continue
        found[-1].append(token)
    return [part for part in found if part]


_LINE = re.compile(r'#\s*line\s+(\d+)(?:\s+"([^"]+)")?')


class Origins:
    """Which line of which file each line of a text is: its own, or what ``#line`` says."""

    def __init__(self, text: str, name: str, tokens: Sequence[Token]) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._line_directives = [
            (1, name, 1)
        ]  # from which line of the text, which file, which line of that
        for token in tokens:
            found = _LINE.match(token.text) if token.kind == "directive" else None
            if found:
                name = found[2] or name
                self._line_directives.append(
                    (bisect_right(self._starts, token.end) + 1, name, int(found[1]))
                )

    def locate(self, offset: int) -> tuple[str, int, int]:
        """The file, the line, from 1, and the column, from 0."""
        line = bisect_right(self._starts, offset)
        directive = (
            bisect_right(self._line_directives, line, key=lambda directive: directive[0]) - 1
        )
        first, name, number = self._line_directives[directive]
        return name, number + line - first, offset - self._starts[line - 1]
