"""Find the functions that a CUDA C text defines: names, parameters and bodies.

Macros and included files can change what the tokens mean. Results therefore serve error messages
and optimizations that the C++ compiler checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.declarations import split_at_commas
from pycu2c.compat.cuda_text.parse.tokens import Token, closing

_SPECIFIERS_WITH_ARGUMENTS = {  # specifiers with arguments that may precede a function's name
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
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "sizeof", "catch", "defined", "alignof"}


@dataclass(frozen=True, slots=True)
class ParsedParameter:
    """A parameter. ``text`` is its declaration. ``is_read_only``: it is a pointer to const."""

    name: str
    text: str
    is_read_only: bool


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """A function that the text defines.

    ``start`` is the index of the first token of its declaration; ``body`` are the indices of the
    brackets around its body.
    """

    name: str
    scopes: tuple[str, ...]  # enclosing namespaces and classes
    is_kernel: bool
    is_template: bool
    parameters: tuple[ParsedParameter, ...]
    start: int
    body: tuple[int, int]

    @property
    def path(self) -> str:
        return "::".join((*self.scopes, self.name))


def functions_in(tokens: Sequence[Token]) -> Iterator[FunctionDefinition]:
    """Yield the functions with a body."""
    scopes: list[tuple[str, int]] = []  # names, and indices of their closing brackets
    index = start = 0
    while index < len(tokens):
        token = tokens[index]
        scopes = [scope for scope in scopes if index < scope[1]]
        if token.kind == "directive" or token.text in (";", "}"):
            start = index + 1
        elif token.text == "(":
            end = closing(tokens, index)
            function = _function(tokens, start, index, end, tuple(n for n, _ in scopes if n))
            if function:
                yield function
                start = function.body[1] + 1
            index = function.body[1] if function else end
        elif token.text == "{":
            name = _scope_name(tokens[start:index])
            if name is None:  # an initializer list
                index = closing(tokens, index)
            else:
                scopes.append((name, closing(tokens, index)))
                start = index + 1
        index += 1


def _scope_name(head: Sequence[Token]) -> str | None:
    """Return the name of the namespace or class, "" if unnamed; None for an initializer list."""
    words = [t.text for t in head]
    if "namespace" in words:
        after = [t.text for t in head[words.index("namespace") + 1 :] if t.kind == "identifier"]
        return "::".join(word for word in after if word != "inline")
    if words[:1] == ["extern"] and len(words) == 2:
        return ""
    for keyword in ("class", "struct", "union"):
        if keyword in words and "=" not in words:
            index = words.index(keyword) + 1
            while words[index : index + 1] and words[index] in _SPECIFIERS_WITH_ARGUMENTS:
                index = closing(head, index + 1) + 1
            return next((t.text for t in head[index:] if t.kind == "identifier"), "")
    return None


def _function(
    tokens: Sequence[Token], start: int, opening: int, end: int, scopes: tuple[str, ...]
) -> FunctionDefinition | None:
    """Return the function whose parameters are in these brackets, if any."""
    name_index = _name_index(tokens, start, opening)
    if name_index is None:
        return None
    body = _body_index(tokens, end + 1)
    if body is None:
        return None
    words = [t.text for t in tokens[start:name_index]]
    name = "".join(t.text for t in tokens[name_index:opening])
    is_template = "template" in words and words[words.index("template") + 1 :][:2] != ["<", ">"]
    return FunctionDefinition(
        name,
        scopes,
        "__global__" in words,
        is_template,
        tuple(map(_parameter, filter(None, split_at_commas(tokens[opening + 1 : end])))),
        start,
        (body, closing(tokens, body)),
    )


def _name_index(tokens: Sequence[Token], start: int, opening: int) -> int | None:
    """Return the index of the function name before a bracket; of ``f<float>`` that of ``f``."""
    index = opening - 1
    if index >= start and tokens[index].text == ">":
        depth = 0
        while index >= start:
            depth += (tokens[index].text == ">") - (tokens[index].text == "<")
            index -= 1
            if depth == 0:
                break
    if index <= start or tokens[index].kind != "identifier":
        return None
    word = tokens[index].text
    return None if word in _SPECIFIERS_WITH_ARGUMENTS or word in _NOT_FUNCTIONS else index


def _body_index(tokens: Sequence[Token], index: int) -> int | None:
    """Return the index of the body that follows the parameters, if any."""
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
    end = texts.index("=") if "=" in texts else len(texts)
    texts = texts[:end]
    words = [t.text for t in tokens[:end] if t.kind == "identifier"]
    pointer_count = texts.count("*") + texts.count("[")
    first_star = texts.index("*") if "*" in texts else len(texts)
    is_read_only = pointer_count == 1 and "const" in texts[:first_star]
    name = words[-1] if len(words) > 1 else ""
    return ParsedParameter(name, " ".join(texts), is_read_only)
