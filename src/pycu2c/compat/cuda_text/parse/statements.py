"""Parse function bodies into statements by brackets and keywords; expressions stay token lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, merge_operators


@dataclass(frozen=True, slots=True)
class SimpleStatement:
    """A declaration, an expression a jump up to its ``;``, or a statement without its own class."""

    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class BlockStatement:
    tokens: tuple[Token, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class IfStatement:
    tokens: tuple[Token, ...]
    condition: tuple[Token, ...]
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True)
class LoopStatement:
    """A ``for``, ``while`` or ``do`` loop. Missing parts of the header are empty."""

    tokens: tuple[Token, ...]
    init: tuple[Token, ...]
    condition: tuple[Token, ...]
    step: tuple[Token, ...]
    body: Statement
    is_do: bool


Statement: TypeAlias = SimpleStatement | BlockStatement | IfStatement | LoopStatement


def nested_statements(statement: Statement) -> tuple[Statement, ...]:
    """Return the statements directly inside a block, a branch or a loop."""
    match statement:
        case BlockStatement(_, body):
            return body
        case IfStatement(_, _, then, otherwise):
            return (then, otherwise) if otherwise else (then,)
        case LoopStatement(_, _, _, _, body):
            return (body,)
        case SimpleStatement():
            return ()


class Unanalyzable(Exception):
    """The tokens have a form that the analysis does not support."""


def statements(tokens: Sequence[Token]) -> tuple[Statement, ...]:
    """Return the statements of a body without its brackets. Raises Unanalyzable."""
    found, index = [], 0
    merged = merge_operators(tokens)
    while index < len(merged):
        statement, index = _statement(merged, index)
        found.append(statement)
    return tuple(found)


def _statement(tokens: Sequence[Token], index: int) -> tuple[Statement, int]:
    if index >= len(tokens):
        raise Unanalyzable
    token = tokens[index]
    if token.kind == "directive":
        if not re.match(r"#\s*pragma\b", token.text):
            raise Unanalyzable
        return SimpleStatement((token,)), index + 1  # applies to the next loop
    match token.text:
        case "{":
            end = _closing(tokens, index)
            body = statements(tokens[index + 1 : end])
            return BlockStatement(tuple(tokens[index : end + 1]), body), end + 1
        case "if":
            return _if(tokens, index)
        case "for":
            return _for(tokens, index)
        case "while":
            return _while(tokens, index)
        case "do":
            return _do(tokens, index)
        case "switch":
            _, end = _bracketed(tokens, index + 1)
            _, end = _bracketed(tokens, end + 1, "{")
            return SimpleStatement(tuple(tokens[index : end + 1])), end + 1
        case "case" | "default" | "else" | "try" | "goto" | "asm" | "template":
            raise Unanalyzable
    return _simple(tokens, index)


def _simple(tokens: Sequence[Token], index: int) -> tuple[Statement, int]:
    end = index
    while end < len(tokens) and tokens[end].text != ";":
        if tokens[end].kind == "directive" or tokens[end].text == "}":
            raise Unanalyzable
        end = _closing(tokens, end) + 1 if tokens[end].text in ("(", "[", "{") else end + 1
    if end >= len(tokens) or (tokens[index + 1 : index + 2] and tokens[index + 1].text == ":"):
        raise Unanalyzable  # a label
    return SimpleStatement(tuple(tokens[index : end + 1])), end + 1


def _if(tokens: Sequence[Token], index: int) -> tuple[Statement, int]:
    condition, end = _bracketed(tokens, index + 1)  # "if constexpr" is unanalyzable
    then, after = _statement(tokens, end + 1)
    otherwise = None
    if after < len(tokens) and tokens[after].text == "else":
        otherwise, after = _statement(tokens, after + 1)
    return IfStatement(tuple(tokens[index:after]), condition, then, otherwise), after


def _for(tokens: Sequence[Token], index: int) -> tuple[Statement, int]:
    header, end = _bracketed(tokens, index + 1)
    body, after = _statement(tokens, end + 1)
    loop, parts = tuple(tokens[index:after]), _split_at_semicolons(header)
    if len(parts) == 1:  # a range-based loop
        return SimpleStatement(loop), after
    if len(parts) != 3:
        raise Unanalyzable
    init, condition, step = parts
    return LoopStatement(loop, init, condition, step, body, False), after


def _while(tokens: Sequence[Token], index: int) -> tuple[Statement, int]:
    condition, end = _bracketed(tokens, index + 1)
    body, after = _statement(tokens, end + 1)
    return LoopStatement(tuple(tokens[index:after]), (), condition, (), body, False), after


def _do(tokens: Sequence[Token], index: int) -> tuple[Statement, int]:
    body, after = _statement(tokens, index + 1)
    condition, end = _bracketed(tokens, after + 1)
    if tokens[end + 1 : end + 2] == [] or tokens[end + 1].text != ";":
        raise Unanalyzable
    return LoopStatement(tuple(tokens[index : end + 2]), (), condition, (), body, True), end + 2


def _split_at_semicolons(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    found: list[tuple[Token, ...]] = []
    start = index = 0
    while index < len(tokens):
        if tokens[index].text == ";":
            found.append(tuple(tokens[start:index]))
            start = index + 1
        index = _closing(tokens, index) + 1 if tokens[index].text in ("(", "[", "{") else index + 1
    return [*found, tuple(tokens[start:])]


def _bracketed(
    tokens: Sequence[Token], opening: int, bracket: str = "("
) -> tuple[tuple[Token, ...], int]:
    """Return the tokens in brackets, and the index of the closing one."""
    if opening >= len(tokens) or tokens[opening].text != bracket:
        raise Unanalyzable
    end = _closing(tokens, opening)
    return tuple(tokens[opening + 1 : end]), end


def _closing(tokens: Sequence[Token], opening: int) -> int:
    end = closing(tokens, opening)
    if end >= len(tokens):
        raise Unanalyzable
    return end
