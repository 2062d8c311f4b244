"""Expand the macros of a text and find constants at namespace scope."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pycu2c.compat.cuda_text.parse.declarations import BUILT_IN
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, merge_operators, tokens_of
from pycu2c.compat.cuda_text.source_text import CudaSource

_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?(.*)", re.DOTALL)
KEYWORDS = frozenset(
    ("if", "else", "for", "while", "do", "switch", "case", "return", "break", "continue", "goto")
)
_TYPE_TOKENS = BUILT_IN | {"const", "volatile"}
_ALTERNATIVE = Token("punctuator", ",", 0, 0)  # separates two definitions of a macro
_STATEMENT_PUNCTUATORS = frozenset((";", "{", "}", "#"))


class Macros:
    """The macros of a text and of the options."""

    def __init__(self, text: CudaSource, options: Iterable[str]) -> None:
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
        functions = {function.name for function in text.functions}
        self.constants = frozenset(
            {*_constants(text), "min", "max"} - functions - _mutable_globals(text)
        )

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._bodies)

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
        before = ""
        for token in tokens:
            if token.kind == "identifier" and before not in (".", "->"):
                yield token
                inside = self.expand(token)
                if inside != [token]:
                    yield from _non_member_names(inside)
            before = token.text

    def are_expressions(self, tokens: Iterable[Token]) -> bool:
        """Return whether no macro in the tokens expands to a statement or a declaration."""
        used = {
            name.text for t in tokens if t.text in self._bodies for name in self.expanded_names([t])
        }
        return not any(
            _is_statement(self._replacements[name]) for name in used if name in self._replacements
        )

    def expansion(self, token: Token) -> list[Token]:
        """Return the expansion of a macro; empty for other tokens."""
        return self.expand(token) if token.text in self._bodies else []


def _non_member_names(tokens: Sequence[Token]) -> Iterator[Token]:
    for before, token in pairwise((None, *tokens)):
        assert token is not None
        if token.kind == "identifier" and (before is None or before.text not in (".", "->")):
            yield token


def _is_statement(tokens: Sequence[Token]) -> bool:
    declares = any(
        a.kind == b.kind == "identifier" and b.text not in _TYPE_TOKENS for a, b in pairwise(tokens)
    )
    return declares or any(t.text in KEYWORDS or t.text in _STATEMENT_PUNCTUATORS for t in tokens)


def _constants(text: CudaSource) -> Iterator[str]:
    """Yield the names of constants at namespace scope and of template parameters."""
    outside = text.tokens_outside(text.functions)
    indices = {id(token): i for i, token in enumerate(text.tokens)}
    for before, token, after in zip(outside, outside[1:], outside[2:]):
        if token.kind != "identifier" or before.kind != "identifier":
            continue
        head = _words_before(text.tokens, indices[id(token)])
        is_constant = after.text in ("=", ";") and head & {"const", "constexpr", "__constant__"}
        if is_constant or (after.text in (",", ">", "=") and "template" in head):
            yield token.text


def _mutable_globals(text: CudaSource) -> set[str]:
    """Return the names of variables in memory that kernels may write."""
    found = set()
    for index, token in enumerate(text.tokens):
        if token.text not in ("__shared__", "__device__", "__managed__"):
            continue
        end, words, names = index, set(), set()
        while end < len(text.tokens) and text.tokens[end].text not in (";", "(", "{", "="):
            words.add(text.tokens[end].text)
            end = closing(text.tokens, end) if text.tokens[end].text == "[" else end
            after = text.tokens[end + 1].text if end + 1 < len(text.tokens) else ""
            names |= {text.tokens[end].text} if after in ("[", ",", ";", "=", "{") else set()
            end += 1
        found |= set() if words & {"const", "constexpr", "__constant__"} else names
    return found


def _words_before(tokens: Sequence[Token], index: int) -> set[str]:
    """Return the texts of the tokens of a declaration before a name."""
    found = set()
    while index > 0:
        index -= 1
        if tokens[index].text in (";", "}", "{") or tokens[index].kind == "directive":
            break
        found.add(tokens[index].text)
    return found
