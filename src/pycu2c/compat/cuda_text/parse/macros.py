"""What the words of a text may stand for: macros, and constants that are outside of functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pycu2c.compat.cuda_text.parse.declarations import BUILT_IN
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, merge_operators, tokens_of
from pycu2c.compat.cuda_text.source_text import CudaSource

_DEFINED = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?(.*)", re.DOTALL)
KEYWORDS = frozenset(
    ("if", "else", "for", "while", "do", "switch", "case", "return", "break", "continue", "goto")
)
_OF_TYPES = BUILT_IN | {"const", "volatile"}
_OTHERWISE = Token("mark", ",", 0, 0)  # between what a macro is in one case and in another
_MARKS = frozenset((";", "{", "}", "#"))


class Macros:
    """The macros of a text and of options."""

    def __init__(self, text: CudaSource, options: Iterable[str]) -> None:
        self._found: dict[str, list[Token]] = {}
        directives = [t.text for t in text.tokens if t.kind == "directive"]
        self._whole: dict[str, list[Token]] = {}  # the names of what they take included
        for line in (*options, *directives):
            if found := _DEFINED.match(line):
                inside = merge_operators(tokens_of(found[4].replace("\\\n", " ")))
                names = re.findall(r"\w+", found[3] or "")
                kept = [t for t in inside if t.text not in names]
                others = [_OTHERWISE] if found[1] in self._found else []
                self._found.setdefault(found[1], []).extend((*others, *kept))
                self._whole.setdefault(found[1], []).extend((*others, *inside))
        own = {function.name for function in text.functions}
        self.constants = frozenset({*_constants(text), "min", "max"} - own - _changing(text))

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._found)

    def expand(self, token: Token, around: frozenset[str] = frozenset()) -> list[Token]:
        """What a token stands for, where it stands: without what a macro is given, which stands
        beside it."""
        if token.text not in self._found or token.text in around:
            return [token]
        inside = [self.expand(t, around | {token.text}) for t in self._found[token.text]]
        return [
            Token(each.kind, each.text, token.start, token.end) for row in inside for each in row
        ]

    def expanded_names(self, tokens: Iterable[Token]) -> Iterator[Token]:
        """The words that tokens stand for, names of macros included, those of members not."""
        before = ""
        for token in tokens:
            if token.kind == "word" and before not in (".", "->"):
                yield token
                inside = self.expand(token)
                if inside != [token]:
                    yield from _free(inside)
            before = token.text

    def are_expressions(self, tokens: Iterable[Token]) -> bool:
        """Whether no macro in there stands for statements or declares something."""
        used = {
            each.text for t in tokens if t.text in self._found for each in self.expanded_names([t])
        }
        return not any(_is_statement(self._whole[name]) for name in used if name in self._whole)

    def expansion(self, token: Token) -> list[Token]:
        """What a macro stands for; nothing, if it is none."""
        return self.expand(token) if token.text in self._found else []


def _free(tokens: Sequence[Token]) -> Iterator[Token]:
    for before, token in pairwise((None, *tokens)):
        assert token is not None
        if token.kind == "word" and (before is None or before.text not in (".", "->")):
            yield token


def _is_statement(tokens: Sequence[Token]) -> bool:
    declares = any(
        a.kind == b.kind == "word" and b.text not in _OF_TYPES for a, b in pairwise(tokens)
    )
    return declares or any(t.text in KEYWORDS or t.text in _MARKS for t in tokens)


def _constants(text: CudaSource) -> Iterator[str]:
    """Names of constants outside of functions, and of what templates take."""
    inside = [(f.start, f.body[0], f.body[1]) for f in text.functions]
    places = {i for _, first, last in inside for i in range(first, last)}
    outside = [(i, t) for i, t in enumerate(text.tokens) if i not in places]
    for (_, before), (index, token), (_, after) in zip(outside, outside[1:], outside[2:]):
        if token.kind != "word" or before.kind != "word":
            continue
        head = _head(text.tokens, index)
        of_text = after.text in ("=", ";") and head & {"const", "constexpr", "__constant__"}
        if of_text or (after.text in (",", ">", "=") and "template" in head):
            yield token.text


def _changing(text: CudaSource) -> set[str]:
    """Names of variables in memory that kernels may write."""
    found = set()
    for index, token in enumerate(text.tokens):
        if token.text not in ("__shared__", "__device__", "__managed__"):
            continue
        end, expand, names = index, set(), set()
        while end < len(text.tokens) and text.tokens[end].text not in (";", "(", "{", "="):
            expand.add(text.tokens[end].text)
            end = closing(text.tokens, end) if text.tokens[end].text == "[" else end
            after = text.tokens[end + 1].text if end + 1 < len(text.tokens) else ""
            names |= {text.tokens[end].text} if after in ("[", ",", ";", "=", "{") else set()
            end += 1
        found |= set() if expand & {"const", "constexpr", "__constant__"} else names
    return found


def _head(tokens: Sequence[Token], index: int) -> set[str]:
    """The words of the declaration in front of a name."""
    found = set()
    while index > 0:
        index -= 1
        if tokens[index].text in (";", "}", "{") or tokens[index].kind == "directive":
            break
        found.add(tokens[index].text)
    return found
