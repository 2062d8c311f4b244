"""A CUDA C text as the user gave it, and what errors show of it."""

from __future__ import annotations

import linecache
import re
from functools import cached_property

from pycu2c.cudac.functions import Function, functions_in
from pycu2c.cudac.tokens import Lines, Token, tokens_of
from pycu2c.digests import digest_of
from pycu2c.spans import Span


class Text:
    """``code``; and ``name``, what messages call it: a file's, or one of its own. ``#line`` in it
    may name other texts, which are ``shown`` too."""

    def __init__(self, code: str, name: str = "", shown: dict[str, str] | None = None) -> None:
        self.code = code
        self.name = name or f"cuda-{digest_of(code.encode())[:8]}.cu"
        for each, content in ({} if name else {self.name: code} | (shown or {})).items():
            lines = [line + "\n" for line in content.splitlines()]
            linecache.cache[each] = (len(content), None, lines, each)
        for each, content in (shown or {}).items():
            lines = [line + "\n" for line in content.splitlines()]
            linecache.cache[each] = (len(content), None, lines, each)

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens_of(self.code)

    @cached_property
    def functions(self) -> list[Function]:
        return functions_in(self.tokens)

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.code)

    def span(self, token: Token) -> Span:
        """Where a token stands."""
        line, column = self.lines.place(token.start)
        end_line, end_column = self.lines.place(token.end)
        return Span(self.name, line, column, end_line, end_column)


_LINE = re.compile(r'#\s*line\s+(\d+)(?:\s+"([^"]*)")?')


def line_directive(text: Text, place: int) -> str:
    """What says that the next line is the one that a place is in, as the text counts them."""
    line, name = text.lines.place(place)[0], text.name
    for token in text.tokens:
        if token.start >= place:
            break
        if token.kind == "directive" and (found := _LINE.match(token.text)):
            since = text.lines.place(place)[0] - text.lines.place(token.end)[0]
            line, name = int(found[1]) + since - 1, found[2] or name
    return f'#line {line} "{name}"'
