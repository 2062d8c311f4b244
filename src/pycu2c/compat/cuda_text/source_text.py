"""Hold a CUDA C source text with its tokens, functions and line origins."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from pycu2c.base.cached_properties import cached_property
from pycu2c.base.hashing import digest_of
from pycu2c.base.spans import Span
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition, functions_in
from pycu2c.compat.cuda_text.parse.tokens import Origins, Token, tokens_of


class CudaSource:
    """A CUDA C source text.

    ``name`` identifies it in messages: a file name or a generated one. ``quoted_sources`` maps the
    names in ``#line`` directives to the sources that error messages quote.
    """

    def __init__(
        self, code: str, name: str = "", quoted_sources: dict[str, str] | None = None
    ) -> None:
        self.code = code
        self.name = name or f"cuda-{digest_of(code.encode())[:8]}.cu"
        generated = {} if name else {self.name: code}  # linecache reads named files itself
        for file, content in {**generated, **(quoted_sources or {})}.items():
            lines = [line + "\n" for line in content.splitlines()]
            linecache.cache[file] = (len(content), None, lines, file)

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens_of(self.code)

    @cached_property
    def functions(self) -> list[FunctionDefinition]:
        return list(functions_in(self.tokens))

    @cached_property
    def origins(self) -> Origins:
        return Origins(self.code, self.name, self.tokens)

    def tokens_outside(self, functions: Iterable[FunctionDefinition]) -> list[Token]:
        """Return the tokens outside of the bodies of these functions."""
        inside = {i for f in functions for i in range(*f.body)}
        return [token for i, token in enumerate(self.tokens) if i not in inside]

    def span(self, token: Token) -> Span:
        """Return the source span of a token."""
        name, line, column = self.origins.locate(token.start)
        _, end_line, end_column = self.origins.locate(token.end)
        return Span(name, line, column, end_line, end_column)


def line_directive(text: CudaSource, offset: int) -> str:
    """Return a ``#line`` directive with the line number and file of an offset."""
    name, line, _ = text.origins.locate(offset)
    return f'#line {line} "{name}"'
