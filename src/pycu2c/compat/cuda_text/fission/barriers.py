"""Recognize barriers and collective calls (votes, shuffles, reductions) in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pycu2c.compat.cuda_text.parse.declarations import split_at_commas
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.statements import Unanalyzable
from pycu2c.compat.cuda_text.parse.tokens import Token, closing

_BARRIERS = ("__syncthreads", "__syncwarp")
# (method that deposits an operand, method that combines them), headers/split_kernels.h
_BLOCK_COLLECTIVES = {
    "__syncthreads_count": ("vote", "count({}, ::pycu2c::MOST_THREADS, ::pycu2c::NUMBER)"),
    "__syncthreads_and": ("vote", "count({}, ::pycu2c::MOST_THREADS, ::pycu2c::EACH)"),
    "__syncthreads_or": ("vote", "count({}, ::pycu2c::MOST_THREADS, ::pycu2c::ONE)"),
}
_WARP_COLLECTIVES = {
    "__shfl_sync": ("at", "exchange({})"),
    "__shfl_up_sync": ("up", "exchange({})"),
    "__shfl_down_sync": ("down", "exchange({})"),
    "__shfl_xor_sync": ("by_xor", "exchange({})"),
    "__ballot_sync": ("vote", "count({}, 32, ::pycu2c::BALLOT)"),
    "__any_sync": ("vote", "count({}, 32, ::pycu2c::ONE)"),
    "__all_sync": ("vote", "count({}, 32, ::pycu2c::EACH)"),
    "__reduce_add_sync": ("deposit", "reduce({}, ::pycu2c::Add())"),
    "__reduce_min_sync": ("deposit", "reduce({}, ::pycu2c::Least())"),
    "__reduce_max_sync": ("deposit", "reduce({}, ::pycu2c::Greatest())"),
    "__reduce_and_sync": ("deposit", "reduce({}, ::pycu2c::And())"),
    "__reduce_or_sync": ("deposit", "reduce({}, ::pycu2c::Or())"),
    "__reduce_xor_sync": ("deposit", "reduce({}, ::pycu2c::Xor())"),
}
SYNC_FUNCTIONS = frozenset((*_BARRIERS, *_BLOCK_COLLECTIVES, *_WARP_COLLECTIVES))
BLOCK_SYNC_FUNCTIONS = frozenset(("__syncthreads", *_BLOCK_COLLECTIVES))
_NOT_HOISTABLE = frozenset(
    ("?", "&&", "||", "++", "--", "{")
)  # conditional evaluation, or other side effects


class CollectiveCall(NamedTuple):
    """A collective call: its tokens, its operands without the mask, and how they are combined.

    ``deposit`` and ``combine`` are methods of ``Collective`` in ``headers/split_kernels.h``.
    """

    tokens: tuple[Token, ...]
    operands: tuple[tuple[Token, ...], ...]
    deposit: str
    combine: str


def is_barrier(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 3 and tokens[0].text in _BARRIERS and tokens[-2].text == ")"


def has_synchronization(tokens: Sequence[Token]) -> bool:
    return any(t.text in SYNC_FUNCTIONS for t in tokens)


def check_barrier(tokens: Sequence[Token], macros: Macros) -> None:
    """Raise Unanalyzable if the barrier is for a subset of the lanes."""
    inside = tokens[2:-2]
    if inside and not (tokens[0].text == "__syncwarp" and _is_full(inside, macros)):
        raise Unanalyzable


def collective_calls(tokens: Sequence[Token], macros: Macros) -> tuple[CollectiveCall, ...]:
    """Return the collective calls of a statement, each of which every thread executes once.

    Raises Unanalyzable if they may not be hoisted before the rest of the statement.
    """
    found: list[CollectiveCall] = []
    others: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text not in SYNC_FUNCTIONS:
            others.append(token.text)
            index += 1
            continue
        end = closing(tokens, index + 1)
        inside = tokens[index + 2 : end]
        if has_synchronization(inside) or tokens[index + 1].text != "(":
            raise Unanalyzable
        found.append(_call(token.text, tuple(tokens[index : end + 1]), inside, macros))
        index = end + 1
    if not _NOT_HOISTABLE.isdisjoint(others) or others[0] in ("return", "switch", "for"):
        raise Unanalyzable
    if len(split_at_commas(tokens)) > 1:
        raise Unanalyzable
    if sum(text in ("=", "+=", "-=", "*=", "|=", "&=", "^=") for text in others) > 1:
        raise Unanalyzable
    return tuple(found)


def _call(
    name: str, tokens: tuple[Token, ...], inside: Sequence[Token], macros: Macros
) -> CollectiveCall:
    operands = [tuple(row) for row in split_at_commas(inside)]
    if any(t.text in ("=", "++", "--", "{") for t in inside):
        raise Unanalyzable
    if name in _BLOCK_COLLECTIVES:
        return CollectiveCall(tokens, tuple(operands), *_BLOCK_COLLECTIVES[name])
    if name not in _WARP_COLLECTIVES or not _is_full(operands[0], macros):
        raise Unanalyzable
    return CollectiveCall(tokens, tuple(operands[1:]), *_WARP_COLLECTIVES[name])


def _is_full(mask: Sequence[Token], macros: Macros) -> bool:
    """Return whether a mask is a literal for all lanes."""
    words = "".join(each.text for t in mask for each in macros.expand(t)).lower()
    return words.strip("()").rstrip("ul") in ("0xffffffff", "~0", "-1", "4294967295")
