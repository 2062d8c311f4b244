"""The functions that a CUDA C text defines, as far as its words tell: names, parameters, where the
body stands. Knows no compiler, and no types.

What a word means that a macro or an included file brings, it does not know: what is found here
makes errors readable and copies few, and is no proof of anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, split_arguments

_WITH_BRACKETS = {  # words that may stand before a function's name, with brackets of their own
    "__launch_bounds__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "__attribute__",
    "__declspec",
    "__align__",
    "alignas",
    "decltype",
    "noexcept",
    "explicit",
    "requires",
}
_NO_FUNCTION = {"if", "for", "while", "switch", "return", "sizeof", "catch", "defined", "alignof"}


@dataclass(frozen=True, slots=True)
class ParsedParameter:
    """A parameter as it is written. ``is_read_only``: it is a pointer to what the kernel does not
    write."""

    name: str
    text: str
    is_read_only: bool


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """A function that the text defines. ``start`` and ``body`` are indices of tokens: of the
    first of its declaration, and of the brackets around its body."""

    name: str
    scopes: tuple[str, ...]  # namespaces and classes around it
    is_kernel: bool
    is_template: bool
    parameters: tuple[ParsedParameter, ...]
    start: int
    body: tuple[int, int]

    @property
    def path(self) -> str:
        return "::".join((*self.scopes, self.name))


def functions_in(tokens: Sequence[Token]) -> list[FunctionDefinition]:
    """Those with a body."""
    return list(_functions(tokens))


def _functions(tokens: Sequence[Token]) -> Iterator[FunctionDefinition]:
    scopes: list[tuple[str, int]] = []  # names, and where their brackets close
    index = start = 0
    while index < len(tokens):
        token = tokens[index]
        scopes = [scope for scope in scopes if index < scope[1]]
        if token.kind == "directive" or token.text in (";", "}"):
            start = index + 1
        elif token.text == "(":
            end = closing(tokens, index)
            found = _function(tokens, start, index, end, tuple(n for n, _ in scopes if n))
            if found:
                yield found
                start = found.body[1] + 1
            index = found.body[1] if found else end
        elif token.text == "{":
            entered = _entered(tokens, start, index)
            if entered:
                scopes.append(entered)
                start = index + 1
            else:  # a list of values
                index = closing(tokens, index)
        index += 1


def _entered(tokens: Sequence[Token], start: int, opening: int) -> tuple[str, int] | None:
    """The scope that a bracket opens, and where it closes."""
    name = _scope(tokens[start:opening])
    return None if name is None else (name, closing(tokens, opening))


def _scope(head: Sequence[Token]) -> str | None:
    """What a bracket opens: the name of a namespace or class, "" without one; None for values."""
    words = [t.text for t in head]
    if "namespace" in words:
        after = [t.text for t in head[words.index("namespace") + 1 :] if t.kind == "word"]
        return "::".join(word for word in after if word != "inline")
    if words[:1] == ["extern"] and len(words) == 2:
        return ""
    for what in ("class", "struct", "union"):
        if what in words and "=" not in words:
            rest = head[words.index(what) + 1 :]
            return next((t.text for t in rest if t.kind == "word"), "")
    return None


def _function(
    tokens: Sequence[Token], start: int, opening: int, end: int, scopes: tuple[str, ...]
) -> FunctionDefinition | None:
    """The function whose parameters stand in these brackets, if that is what they are."""
    before = _name_before(tokens, start, opening)
    if before is None:
        return None
    body = _body_after(tokens, end + 1)
    if body is None:
        return None
    words = [t.text for t in tokens[start:before]]
    name = "".join(t.text for t in tokens[before:opening])
    is_template = "template" in words and words[words.index("template") + 1 :][:2] != ["<", ">"]
    return FunctionDefinition(
        name,
        scopes,
        "__global__" in words,
        is_template,
        tuple(map(_parameter, split_arguments(tokens[opening + 1 : end]))),
        start,
        (body, closing(tokens, body)),
    )


def _name_before(tokens: Sequence[Token], start: int, opening: int) -> int | None:
    """Where the name begins that stands before a bracket; of ``f<float>`` that of f."""
    index = opening - 1
    if index >= start and tokens[index].text == ">":
        depth = 0
        while index >= start:
            depth += (tokens[index].text == ">") - (tokens[index].text == "<")
            index -= 1
            if depth == 0:
                break
    if index <= start or tokens[index].kind != "word":
        return None
    word = tokens[index].text
    return None if word in _WITH_BRACKETS or word in _NO_FUNCTION else index


def _body_after(tokens: Sequence[Token], index: int) -> int | None:
    """Where the body begins that follows the brackets of parameters."""
    while index < len(tokens):
        token = tokens[index]
        if token.text == "{":
            return index
        if token.text == "(":
            index = closing(tokens, index)
        elif token.kind == "directive" or token.text in (";", ",", ")", "=", "}"):
            return None
        index += 1
    return None


def _parameter(tokens: Sequence[Token]) -> ParsedParameter:
    texts = [t.text for t in tokens]
    cut = texts.index("=") if "=" in texts else len(texts)
    texts = texts[:cut]
    words = [t.text for t in tokens[:cut] if t.kind == "word"]
    stars = texts.count("*") + texts.count("[")
    first = texts.index("*") if "*" in texts else len(texts)
    is_read_only = stars == 1 and "const" in texts[:first]
    name = words[-1] if len(words) > 1 else ""
    return ParsedParameter(name, " ".join(texts), is_read_only)
