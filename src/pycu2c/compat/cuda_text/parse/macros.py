"""Expand the macros of a text and find constants at namespace scope."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pycu2c.compat.cuda_text.parse.declarations import (
    ASSIGNMENT_OPERATORS,
    BUILT_IN,
    INCREMENTS,
)
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.tokens import Token, merge_operators, tokens_of
from pycu2c.compat.cuda_text.source_text import CudaSource

_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?(.*)", re.DOTALL)
KEYWORDS = frozenset(
    ("if", "else", "for", "while", "do", "switch", "case", "return", "break", "continue", "goto")
)
_TYPE_TOKENS = BUILT_IN | {"const", "volatile"}
_ALTERNATIVE = Token("punctuator", ",", 0, 0)  # separates two definitions of a macro
_STATEMENT_TOKENS = (
    KEYWORDS
    | ASSIGNMENT_OPERATORS
    | INCREMENTS
    | frozenset((";", "{", "}", "#", "auto", "__shared__"))
)


class Macros:
    """The macros of a text and of the options."""

    def __init__(self, text: CudaSource, options: Iterable[str]) -> None:
        self._text = text
        self._bodies: dict[str, list[Token]] = {}
        directives = [t.text for t in text.tokens if t.kind == "directive"]
        self._replacements: dict[str, list[Token]] = {}  # the bodies, with the names of parameters
        for line in (*options, *directives):
            if found := _DEFINE.match(line):
                inside = merge_operators(tokens_of(found[4].replace("\\\n", " ")))
                name, parameters = found[1], re.findall(r"\w+", found[3] or "")
                body = [t for t in inside if t.text not in parameters]
                separator = [_ALTERNATIVE] if name in self._bodies else []
                self._bodies.setdefault(name, []).extend((*separator, *body))
                self._replacements.setdefault(name, []).extend((*separator, *inside))

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._bodies)

    def constants_of(self, function: FunctionDefinition) -> frozenset[str]:
        """Return the constants at namespace scope and the template parameters of a function."""
        tokens, constants = self._text.tokens, set[str]()
        others = {f.name for f in self._text.functions}
        inside = {i for f in self._text.functions for i in range(f.start, f.body[1])}
        head = range(function.start, function.body[0])
        start = 0
        for index, token in enumerate(tokens[:-1]):
            if token.kind == "directive" or token.text in (";", "}", "{"):
                start = index + 1
            if (
                token.kind != "identifier"
                or index == start
                or (index in inside and index not in head)
            ):
                continue
            words = {t.text for t in tokens[start:index]}
            if tokens[index + 1].text in ("=", ";"):
                is_constant = words & {"const", "constexpr", "__constant__"} and "*" not in words
                (constants if is_constant else others).add(token.text)
            elif "template" in words and tokens[index + 1].text in (",", ">"):
                (constants if index in head else others).add(token.text)
        return frozenset(constants - others)

    def expand(self, token: Token, expanding: frozenset[str] = frozenset()) -> list[Token]:
        """Return the expansion of a token, without macro arguments.

        The arguments are tokens of the text. ``expanding``: macros that are not expanded again.
        """
        if token.text not in self._bodies or token.text in expanding:
            return [token]
        nested = [self.expand(t, expanding | {token.text}) for t in self._bodies[token.text]]
        return [Token(t.kind, t.text, token.start, token.end) for tokens in nested for t in tokens]

    def expanded_names(self, tokens: Iterable[Token]) -> Iterator[Token]:
        """Yield the identifiers in the expansions, including macro names but not member names."""
        for before, token in pairwise((None, *tokens)):
            assert token is not None
            if token.kind == "identifier" and (before is None or before.text not in (".", "->")):
                yield token
                if token.text in self._bodies:
                    yield from (t for t in self.expand(token) if t.kind == "identifier")

    def are_expressions(self, tokens: Iterable[Token]) -> bool:
        """Return whether the macros in the tokens expand to expressions that modify nothing."""
        used = {name.text for name in self.expanded_names(tokens)} & self._replacements.keys()
        return not any(_is_statement(self._replacements[name]) for name in used)


def _is_statement(tokens: Sequence[Token]) -> bool:
    declares = any(
        a.kind == b.kind == "identifier" and b.text not in _TYPE_TOKENS for a, b in pairwise(tokens)
    )
    takes_address = any(a.text == "&" and b.kind != "number" for a, b in pairwise(tokens))
    return declares or takes_address or any(t.text in _STATEMENT_TOKENS for t in tokens)
