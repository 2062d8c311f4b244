"""Reject kernels whose tokens are ambiguous, or whose variables may have aliases.

Each check raises Unanalyzable; the threads of such a kernel run on their own stacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pycu2c.compat.cuda_text.parse.declarations import (
    ASSIGNMENT_OPERATORS,
    BUILT_IN,
    INCREMENTS,
    Declarator,
    after_name,
    declarators_of,
)
from pycu2c.compat.cuda_text.parse.macros import KEYWORDS, Macros
from pycu2c.compat.cuda_text.parse.statements import Unanalyzable
from pycu2c.compat.cuda_text.parse.tokens import Token, closing
from pycu2c.compat.cuda_text.source_text import CudaSource

_UNSUPPORTED = frozenset(  # depend on the enclosing function, type or line, or make aliases
    """
    __LINE__ __builtin_LINE __COUNTER__ __func__ __FUNCTION__ __PRETTY_FUNCTION__
    decltype typeof __typeof__ __typeof const_cast is_const noexcept std operator
    """.split()  # noqa: SIM905
)
_DECLARATION_STARTS = BUILT_IN | frozenset(
    """
    const auto struct class union enum typename register template __declspec namespace friend
    operator _Pragma __extension__ inline __shared__ static extern constexpr thread_local typedef
    using volatile __constant__ __device__ alignas __align__ __attribute__ __builtin_align__
    """.split()  # noqa: SIM905
)
_EXPRESSION_CONTINUATIONS = (
    ASSIGNMENT_OPERATORS | INCREMENTS | frozenset(("[", ".", "->", ";", ",", "?", "<<"))
)
_SCALAR_TYPES = re.compile(
    r"u?int(8|16|32|64)_t|size_t|ptrdiff_t|dim3|(u?(char|short|int|long|longlong)|float|double)[1-4]?"
)
_COMPOUND_TYPES = re.compile(
    r"\b(struct|union|enum|class(?!\s+\w+\s*[,>=]))\b|\b(typedef|using)\b[^;]*[\[(&]"
)


def check_body(text: CudaSource, tokens: Sequence[Token], macros: Macros) -> None:
    """Raise Unanalyzable for tokens that may make an alias of a variable, or change by copying."""
    words = {t.text for t in macros.expanded_names(tokens)}
    takes_references = {f.name for f in text.functions if any("&" in p.text for p in f.parameters)}
    if words & (_UNSUPPORTED | takes_references) or not macros.are_expressions(tokens):
        raise Unanalyzable
    texts = ["", "{", *(t.text for t in tokens), "", ""]
    for i, token in enumerate(tokens, 2):
        before, after = texts[i - 1], texts[i + 1]
        match token.text:
            case "&" | "&&":
                is_declared = tokens[i - 1 :] and tokens[i - 1].kind == "identifier"
                ends_declarator = texts[i + 2] in ("=", "{", ":") or (
                    texts[i + 2] == "(" and texts[i - 2] in (";", "{", "}", "const")
                )
                if after in (")", ">", ",") or (is_declared and ends_declarator):
                    raise Unanalyzable  # a reference
            case "auto" if after in ("&", "&&", "[", "const"):
                raise Unanalyzable
            case "[" if before in ("=", "(", ",", "return", ";", "{", "}"):
                raise Unanalyzable  # a lambda or an attribute
            case "switch":
                opening = closing(tokens, i - 1) + 1
                if "continue" in texts[opening + 2 : closing(tokens, opening) + 2]:
                    raise Unanalyzable


def check_statement(
    text: CudaSource, tokens: Sequence[Token], declarators: Sequence[Declarator]
) -> None:
    """Raise Unanalyzable if a statement may be or declare more than these declarators."""
    if tokens[0].text in ("for", "switch"):
        return
    if _contains_statement(tokens):
        raise Unanalyzable
    if not declarators:
        _check_expression(tokens)
    for declarator in declarators:
        value = declarator.initializer
        is_value = not value or value[0].text == "="
        if not is_value and (value[0].text not in "({" or closing(value, 0) != len(value) - 1):
            raise Unanalyzable
        if declarator.is_reference:
            raise Unanalyzable
        if not declarator.is_pointer and not is_scalar(
            text, (t.text for t in declarator.specifiers)
        ):
            raise Unanalyzable  # a class may hold a reference, and an array become a pointer


def is_scalar(text: CudaSource, type_words: Iterable[str]) -> bool:
    """Return whether a type is a number or a vector; all are if the text declares no type."""
    return not _COMPOUND_TYPES.search(text.code) or all(
        word in BUILT_IN | {"const"} or _SCALAR_TYPES.fullmatch(word) for word in type_words
    )


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
            if text == "{" and after and (after[0].kind != "punctuator" or after[0].text in "{}"):
                return True
        index += 1
    return False


def _check_expression(tokens: Sequence[Token]) -> None:
    first = 1 if tokens[0].text == "::" else 0
    if first and declarators_of(tokens[1:]):
        raise Unanalyzable
    if tokens[first].text in _DECLARATION_STARTS or tokens[first].text in ("[", "{"):
        raise Unanalyzable
    if tokens[first].kind != "identifier" or tokens[first].text in KEYWORDS:
        return
    index = after_name(tokens, first)
    if index < len(tokens) and tokens[index].text == "(":  # not T (*p)[4] = …, T (&r) = …, M(…) x
        after = tokens[closing(tokens, index) + 1].text
        if after not in _EXPRESSION_CONTINUATIONS and after != "(":
            raise Unanalyzable
        if tokens[index + 1].text in ("*", "&", "&&") and after in ("[", "(", "="):
            raise Unanalyzable
    elif index < len(tokens) and tokens[index].text not in _EXPRESSION_CONTINUATIONS:
        raise Unanalyzable
