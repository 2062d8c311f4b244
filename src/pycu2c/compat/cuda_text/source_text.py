"""Hold a CUDA C source text with its tokens, functions and line origins."""

from __future__ import annotations

import linecache
from functools import cached_property

from pycu2c.base.hashing import digest_of
from pycu2c.base.spans import Span
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition, functions_in
from pycu2c.compat.cuda_text.parse.tokens import Origins, Token, tokens_of


class CudaSource:
    """A CUDA C source text.

    ``name`` identifies it in messages: a file name or a generated one. ``shown`` maps names in
    ``#line`` directives to their sources, which error messages quote.
    """

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
    def functions(self) -> list[FunctionDefinition]:
        return functions_in(self.tokens)

    @cached_property
    def origins(self) -> Origins:
        return Origins(self.code, self.name, self.tokens)

    def span(self, token: Token) -> Span:
        """Return the source span of a token."""
        name, line, column = self.origins.locate(token.start)
        _, end_line, end_column = self.origins.locate(token.end)
        return Span(name, line, column, end_line, end_column)


def line_directive(text: CudaSource, offset: int) -> str:
    """Return a ``#line`` directive with the line number and file of an offset."""
    name, line, _ = text.origins.locate(offset)
    return f'#line {line} "{name}"'
