"""Reject kernels whose tokens are ambiguous, which fission could miscompile.

Each check raises Unanalyzable; the threads of such a kernel run on their own stacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pycu2c.compat.cuda_text.fission.variable_uniformity import ASSIGNMENT_OPERATORS, INCREMENTS
from pycu2c.compat.cuda_text.parse.declarations import (
    BUILT_IN,
    Declarator,
    after_name,
    declarators_of,
)
from pycu2c.compat.cuda_text.parse.macros import KEYWORDS, Macros
from pycu2c.compat.cuda_text.parse.statements import Unanalyzable
from pycu2c.compat.cuda_text.parse.tokens import Token, closing
from pycu2c.compat.cuda_text.source_text import CudaSource

_CONTEXT_DEPENDENT = frozenset(  # depend on the enclosing function, type or line
    """
    __LINE__ __builtin_LINE __COUNTER__ __func__ __FUNCTION__ __PRETTY_FUNCTION__
    decltype typeof __typeof__ __typeof const_cast is_const noexcept
    """.split()  # noqa: SIM905
)
_STORAGE_SPECIFIERS = frozenset(
    ("__shared__", "static", "extern", "constexpr", "thread_local", "typedef", "using", "volatile")
) | {"__constant__", "__device__", "alignas", "__align__", "__attribute__", "__builtin_align__"}
_DECLARATION_STARTS = (
    (BUILT_IN | _STORAGE_SPECIFIERS)
    | frozenset(
        ("const", "auto", "struct", "class", "union", "enum", "typename", "register", "template")
    )
    | {"__declspec", "namespace", "friend", "operator", "_Pragma", "__extension__", "inline"}
)
_COMPOUND_KEYWORDS = frozenset(("for", "switch"))  # statements parsed as SimpleStatement
_EXPRESSION_CONTINUATIONS = (
    ASSIGNMENT_OPERATORS | INCREMENTS | frozenset(("[", ".", "->", ";", ",", "?", "<<"))
)


def check_body(tokens: Sequence[Token], macros: Macros) -> None:
    """Raise Unanalyzable for context-dependent names and for ``continue`` inside a ``switch``."""
    if any(t.text in _CONTEXT_DEPENDENT for t in macros.expanded_names(tokens)):
        raise Unanalyzable
    for index, token in enumerate(tokens):
        if token.text == "switch":
            opening = closing(tokens, index + 1) + 1
            end = closing(tokens, opening) if opening < len(tokens) else opening
            if any(t.text == "continue" for t in tokens[opening:end]):
                raise Unanalyzable


def check_destructors(text: CudaSource, classes: frozenset[str]) -> None:
    """Raise Unanalyzable if a class has a destructor."""
    if any(a.text == "~" and b.text in classes for a, b in pairwise(text.tokens)):
        raise Unanalyzable


def check_simple_statement(
    tokens: Sequence[Token], declarators: Sequence[Declarator], macros: Macros
) -> None:
    """Raise Unanalyzable if a statement may be or declare more than these declarators."""
    if any(t.text in _STORAGE_SPECIFIERS for word in tokens for t in macros.expansion(word)):
        raise Unanalyzable
    if tokens[0].text in _COMPOUND_KEYWORDS:
        return
    if _contains_statement(tokens):
        raise Unanalyzable
    for declarator in declarators:
        _check_initializer(declarator.initializer)
    if not declarators:
        _check_expression(tokens)


def _contains_statement(tokens: Sequence[Token]) -> bool:
    """Return whether another statement begins inside: after braces, or with a keyword."""
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        if index and text in KEYWORDS:
            return True
        if text in ("(", "[", "{"):
            index = closing(tokens, index)
            after = tokens[index + 1 : index + 2]
            if text == "{" and after and after[0].kind != "punctuator":
                return True
            if text == "{" and after and after[0].text in ("{", "}"):
                return True
        index += 1
    return False


def _check_initializer(value: Sequence[Token]) -> None:
    if not value or value[0].text == "=":
        return
    if value[0].text not in ("(", "{") or closing(value, 0) != len(value) - 1:
        raise Unanalyzable


def _check_expression(tokens: Sequence[Token]) -> None:
    first = 1 if tokens[0].text == "::" else 0
    if first and declarators_of(tokens[1:]):
        raise Unanalyzable
    if tokens[first].text in _DECLARATION_STARTS or tokens[first].text in ("[", "{"):
        raise Unanalyzable
    if tokens[first].kind != "identifier" or tokens[first].text in KEYWORDS:
        return
    index = after_name(tokens, first)
    if index < len(tokens) and tokens[index].text == "(":
        _check_call(tokens, index)
    elif index < len(tokens) and tokens[index].text not in _EXPRESSION_CONTINUATIONS:
        raise Unanalyzable


def _check_call(tokens: Sequence[Token], opening: int) -> None:
    """Raise Unanalyzable for ``T (*p)[4] = …``, ``T (&r) = …`` and ``MACRO(…) x``."""
    end = closing(tokens, opening)
    after = tokens[end + 1].text if end + 1 < len(tokens) else ""
    if after not in _EXPRESSION_CONTINUATIONS and after != "(":
        raise Unanalyzable
    if tokens[opening + 1].text in ("*", "&", "&&") and after in ("[", "(", "="):
        raise Unanalyzable


def class_names(text: CudaSource) -> frozenset[str]:
    """Return the classes of a text, their aliases, and aliases of arrays and references."""
    tokens = text.tokens
    found = {
        name
        for index, token in enumerate(tokens)
        if token.text in ("struct", "class", "union")
        and (name := _defined_class(tokens, index + 1))
    }
    while aliases := _aliases(tokens, found) - found:
        found |= aliases
    return frozenset(found)


def _defined_class(tokens: Sequence[Token], index: int) -> str | None:
    """Return the name of the class defined here, if any."""
    name = None
    while index < len(tokens):
        if tokens[index].kind == "identifier":
            name = tokens[index].text
        elif tokens[index].text == "(":  # alignment argument
            index = closing(tokens, index)
        else:
            return name if tokens[index].text in ("{", ":", "<") else None
        index += 1
    return None


def _aliases(tokens: Sequence[Token], classes: Iterable[str]) -> set[str]:
    """Return the aliases of these classes, and of arrays, references and functions."""
    found: set[str] = set()
    for index, token in enumerate(tokens):
        if token.text not in ("typedef", "using"):
            continue
        end = index
        while end < len(tokens) and tokens[end].text != ";":
            end = closing(tokens, end) + 1 if tokens[end].text == "{" else end + 1
        alias = tokens[index + 1 : end]
        words = [t.text for t in alias if t.kind == "identifier"]
        is_compound = any(t.text in ("[", "(", "&") for t in alias)
        if words and (is_compound or not {*classes, "struct", "class", "union"}.isdisjoint(words)):
            cut = next((i for i, t in enumerate(alias) if t.text in ("[", ")")), len(alias))
            before = [t.text for t in alias[:cut] if t.kind == "identifier"]
            found.add(before[-1] if token.text == "typedef" and before else words[0])
    return found


def has_references(text: CudaSource, tokens: Sequence[Token], macros: Macros) -> bool:
    """Return whether a body may alias a variable: references, lambdas or objects that hold one."""
    functions_with_references = {
        f.name for f in text.functions if any("&" in p.text for p in f.parameters)
    }
    words = {t.text for t in macros.expanded_names(tokens)}
    if words & functions_with_references or "std" in words:
        return True
    classes_hold_references = any(
        a.text in ("&", "&&") and b.kind == "identifier" and c.text == ";"
        for a, b, c in zip(text.tokens, text.tokens[1:], text.tokens[2:])
    )
    if classes_hold_references and not words.isdisjoint(class_names(text)):
        return True
    return any(map(_is_reference, tokens, tokens[1:], tokens[2:], (*tokens[3:], *tokens[-1:])))


def _is_reference(before: Token, mark: Token, name: Token, after: Token) -> bool:
    if mark.text not in ("&", "&&"):
        return False
    is_declared = name.kind == "identifier" and after.text in ("=", "{", "(", ":")
    return before.text == "[" or (
        is_declared and (before.kind == "identifier" or before.text in "*>")
    )
