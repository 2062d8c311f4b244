"""Recognize barriers and collective calls (votes, shuffles, reductions) in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pycu2c.compat.cuda_text.collective_functions import SplitCollective, split_collectives
from pycu2c.compat.cuda_text.parse.declarations import split_at_commas
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.statements import Unanalyzable
from pycu2c.compat.cuda_text.parse.tokens import Token, closing

_BARRIERS = ("__syncthreads", "__syncwarp")
_COLLECTIVES = split_collectives()
SYNC_FUNCTIONS = frozenset((*_BARRIERS, *_COLLECTIVES))
BLOCK_SYNC_FUNCTIONS = frozenset(
    ("__syncthreads", *(name for name, split in _COLLECTIVES.items() if split.synchronizes_block))
)
# tokens of conditional evaluation, or of other side effects
_NOT_HOISTABLE = frozenset(("?", "&&", "||", "++", "--", "{"))


class CollectiveCall(NamedTuple):
    """A collective call: its tokens, its operands without the mask, and its implementation."""

    tokens: tuple[Token, ...]
    operands: tuple[tuple[Token, ...], ...]
    split: SplitCollective


def is_barrier(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 3 and tokens[0].text in _BARRIERS and tokens[-2].text == ")"


def has_synchronization(tokens: Sequence[Token]) -> bool:
    return any(t.text in SYNC_FUNCTIONS for t in tokens)


def check_barrier(tokens: Sequence[Token], macros: Macros) -> None:
    """Raise Unanalyzable if the barrier is for a subset of the lanes."""
    mask = tokens[2:-2]
    if mask and not (tokens[0].text == "__syncwarp" and _is_full_mask(mask, macros)):
        raise Unanalyzable


def collective_calls(tokens: Sequence[Token], macros: Macros) -> tuple[CollectiveCall, ...]:
    """Return the collective calls of a statement, each of which every thread executes once.

    Raises Unanalyzable if they may not be hoisted before the rest of the statement.
    """
    found: list[CollectiveCall] = []
    other_texts: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text not in SYNC_FUNCTIONS:
            other_texts.append(token.text)
            index += 1
            continue
        end = closing(tokens, index + 1)
        arguments = tokens[index + 2 : end]
        if has_synchronization(arguments) or tokens[index + 1].text != "(":
            raise Unanalyzable
        found.append(
            _collective_call(token.text, tuple(tokens[index : end + 1]), arguments, macros)
        )
        index = end + 1
    if not _NOT_HOISTABLE.isdisjoint(other_texts) or other_texts[0] in ("return", "switch", "for"):
        raise Unanalyzable
    if len(split_at_commas(tokens)) > 1:
        raise Unanalyzable
    if sum(text in ("=", "+=", "-=", "*=", "|=", "&=", "^=") for text in other_texts) > 1:
        raise Unanalyzable
    return tuple(found)


def _collective_call(
    name: str, tokens: tuple[Token, ...], arguments: Sequence[Token], macros: Macros
) -> CollectiveCall:
    operands = [tuple(operand) for operand in split_at_commas(arguments)]
    if any(t.text in ("=", "++", "--", "{") for t in arguments):
        raise Unanalyzable
    if name not in _COLLECTIVES:
        raise Unanalyzable
    split = _COLLECTIVES[name]
    if split.synchronizes_block:
        return CollectiveCall(tokens, tuple(operands), split)
    if not _is_full_mask(operands[0], macros):
        raise Unanalyzable
    return CollectiveCall(tokens, tuple(operands[1:]), split)


def _is_full_mask(mask: Sequence[Token], macros: Macros) -> bool:
    """Return whether a mask is a literal for all lanes."""
    words = "".join(expanded.text for t in mask for expanded in macros.expand(t)).lower()
    return words.strip("()").rstrip("ul") in ("0xffffffff", "~0", "-1", "4294967295")
