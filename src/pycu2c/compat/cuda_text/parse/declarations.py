"""Parse variable declarations into declarators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pycu2c.compat.cuda_text.parse.statements import SimpleStatement, Statement, Unanalyzable
from pycu2c.compat.cuda_text.parse.tokens import Token, closing

BUILT_IN = frozenset(
    ("void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned")
)
ASSIGNMENT_OPERATORS = frozenset(
    ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
)
INCREMENTS = frozenset(("++", "--"))
_QUALIFIERS = frozenset(
    ("const", "constexpr", "register", "typename", "struct", "volatile", "static")
)
BLOCK_LEVEL_SPECIFIERS = frozenset(
    ("__shared__", "typedef", "using", "constexpr", "static_assert", "extern")
)
_NOT_TYPES = frozenset(
    ("return", "break", "continue", "delete", "new", "throw", "sizeof", "this", "switch", "for")
)
_NOT_NAMES = frozenset(("for", "while", "if", "do", "switch"))  # a macro may precede them
_POINTER_TOKENS = ("*", "&", "&&", "const", "__restrict__", "__restrict")
_AFTER_NAME = ("=", ";", ",", "[", "(", "{")


class Declarator(NamedTuple):
    """One name of a declaration, such as ``const float`` ``*`` ``p`` ``[4]`` ``= {…}``.

    The order in the source is: specifiers, pointers or references, name, extents, initializer.
    """

    name: Token
    specifiers: tuple[Token, ...]
    pointers: tuple[Token, ...]
    extents: tuple[Token, ...]
    initializer: tuple[Token, ...]

    @property
    def is_pointer(self) -> bool:
        return any(t.text == "*" for t in self.pointers)

    @property
    def is_reference(self) -> bool:
        return any(t.text in ("&", "&&") for t in self.pointers)


def is_block_level(tokens: Sequence[Token]) -> bool:
    """Return whether a declaration is one per block: shared memory, a type or a constant."""
    return any(t.text in BLOCK_LEVEL_SPECIFIERS for t in tokens[:3])


def declarators_of(tokens: Sequence[Token]) -> tuple[Declarator, ...]:
    """Return the declarators of a statement; none for an expression. Raises Unanalyzable."""
    end = _type_end(tokens)
    if end is None:
        return ()
    if any(t.text == "static" for t in tokens[:end]):
        raise Unanalyzable
    return tuple(_declarators(tuple(tokens[:end]), tokens[end:]))


def split_declarations(body: Sequence[Statement]) -> Iterator[Statement]:
    """Split declarations into statements with one declarator each."""
    for statement in body:
        declarators = statement_declarators(statement)
        if len(declarators) < 2:
            yield statement
            continue
        for d in declarators:
            parts = (d.specifiers, d.pointers, (d.name,), d.extents, d.initializer)
            yield SimpleStatement((*(t for part in parts for t in part), statement.tokens[-1]))


def statement_declarators(statement: Statement) -> tuple[Declarator, ...]:
    tokens = statement.tokens
    is_simple = isinstance(statement, SimpleStatement) and tokens[0].kind != "directive"
    return declarators_of(tokens) if is_simple and not is_block_level(tokens) else ()


def _type_end(tokens: Sequence[Token]) -> int | None:
    """Return the index after the type of a declaration; None if the statement declares nothing."""
    index, has_type = 0, False
    while index < len(tokens):
        token = tokens[index]
        if token.text in BUILT_IN:
            has_type = True
        elif (
            token.kind == "identifier"
            and not has_type
            and token.text not in (*_QUALIFIERS, *_NOT_TYPES)
        ):
            has_type = True
            index = after_name(tokens, index) - 1
        elif token.text not in _QUALIFIERS:
            break
        index += 1
    if not has_type:
        return None
    name = index
    while name < len(tokens) and tokens[name].text in _POINTER_TOKENS:
        name += 1
    if name + 1 >= len(tokens) or tokens[name].kind != "identifier":
        return None
    if tokens[name + 1].text not in _AFTER_NAME or tokens[name].text in _NOT_NAMES:
        raise Unanalyzable
    return index


def after_name(tokens: Sequence[Token], index: int) -> int:
    """Return the index after a qualified name ``a::b<c>``."""
    index += 1
    while index < len(tokens):
        if tokens[index].text == "::" and tokens[index + 1 : index + 2]:
            index += 2
        elif tokens[index].text == "<" and (end := _closing_angle_bracket(tokens, index)):
            index = end + 1
        else:
            break
    return index


def _closing_angle_bracket(tokens: Sequence[Token], opening: int) -> int | None:
    """Return the index of the ``>`` that ends template arguments; None if ``<`` is an operator."""
    depth = 0
    for index in range(opening, len(tokens)):
        text = tokens[index].text
        depth += (text == "<") - (text == ">") - 2 * (text == ">>") - 3 * (text == ">>>")
        if depth <= 0:
            return index
        if text in (";", "=", "{", "&&", "||"):
            return None
    return None


def _declarators(specifiers: tuple[Token, ...], tokens: Sequence[Token]) -> Iterator[Declarator]:
    for declarator in split_at_commas(tokens[:-1] if tokens[-1].text == ";" else tokens):
        name = 0
        while name < len(declarator) and declarator[name].text in _POINTER_TOKENS:
            name += 1
        if name >= len(declarator) or declarator[name].kind != "identifier":
            raise Unanalyzable
        value = name + 1
        while value < len(declarator) and declarator[value].text == "[":
            value = closing(declarator, value) + 1
        pointers, extents, initializer = map(
            tuple, (declarator[:name], declarator[name + 1 : value], declarator[value:])
        )
        yield Declarator(declarator[name], specifiers, pointers, extents, initializer)


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at commas outside of brackets and of template arguments."""
    found: list[list[Token]] = [[]]
    index = 0
    while index < len(tokens):
        end = index
        if tokens[index].text in ("(", "[", "{"):
            end = min(closing(tokens, index), len(tokens) - 1)
        elif tokens[index].text == "<" and (angle := _closing_angle_bracket(tokens, index)):
            end = angle
        if tokens[index].text == ",":
            found.append([])
        else:
            found[-1] += tokens[index : end + 1]
        index = end + 1
    return found
