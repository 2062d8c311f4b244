"""Where all threads of a block, or of a warp, meet in a kernel: barriers, and calls that give each
thread something of the others. Told by the tokens of a statement."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.records import NamedTuple
from pycu2c.compat.cuda_text.parse.declarations import at_commas
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.statements import Unclear
from pycu2c.compat.cuda_text.parse.tokens import Token, closing

_BARRIERS = ("__syncthreads", "__syncwarp")
_OF_BLOCK = {  # how a thread gives its part, and what then is done, in headers/splitting.h
    "__syncthreads_count": ("vote", "count({}, ::pycu2c::MOST_THREADS, ::pycu2c::NUMBER)"),
    "__syncthreads_and": ("vote", "count({}, ::pycu2c::MOST_THREADS, ::pycu2c::EACH)"),
    "__syncthreads_or": ("vote", "count({}, ::pycu2c::MOST_THREADS, ::pycu2c::ONE)"),
}
_OF_WARP = {
    "__shfl_sync": ("at", "exchange({})"),
    "__shfl_up_sync": ("up", "exchange({})"),
    "__shfl_down_sync": ("down", "exchange({})"),
    "__shfl_xor_sync": ("by_xor", "exchange({})"),
    "__ballot_sync": ("vote", "count({}, 32, ::pycu2c::BALLOT)"),
    "__any_sync": ("vote", "count({}, 32, ::pycu2c::ONE)"),
    "__all_sync": ("vote", "count({}, 32, ::pycu2c::EACH)"),
    "__reduce_add_sync": ("give", "reduce({}, ::pycu2c::Add())"),
    "__reduce_min_sync": ("give", "reduce({}, ::pycu2c::Least())"),
    "__reduce_max_sync": ("give", "reduce({}, ::pycu2c::Greatest())"),
    "__reduce_and_sync": ("give", "reduce({}, ::pycu2c::And())"),
    "__reduce_or_sync": ("give", "reduce({}, ::pycu2c::Or())"),
    "__reduce_xor_sync": ("give", "reduce({}, ::pycu2c::Xor())"),
}
MEETINGS = frozenset((*_BARRIERS, *_OF_BLOCK, *_OF_WARP))
OF_BLOCK = frozenset(("__syncthreads", *_OF_BLOCK))
_ONE_BY_ONE = frozenset(("?", "&&", "||", "++", "--", "{"))  # may leave parts out, or change more


class Call(NamedTuple):
    """A call of a statement: its tokens, what threads give besides the mask, how they give it, and
    what then is done, with those that have not returned."""

    tokens: tuple[Token, ...]
    given: tuple[tuple[Token, ...], ...]
    giving: str
    meeting: str


def is_barrier(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 3 and tokens[0].text in _BARRIERS and tokens[-2].text == ")"


def has_meeting(tokens: Sequence[Token]) -> bool:
    return any(t.text in MEETINGS for t in tokens)


def check_barrier(tokens: Sequence[Token], macros: Macros) -> None:
    """Raises Unclear if it is one of some lanes alone."""
    inside = tokens[2:-2]
    if inside and not (tokens[0].text == "__syncwarp" and _is_full(inside, macros)):
        raise Unclear


def calls(tokens: Sequence[Token], macros: Macros) -> tuple[Call, ...]:
    """The calls of a statement that threads meet in, each of which every thread comes to once.
    Raises Unclear where it is not sure that they may be done before the rest of it."""
    found: list[Call] = []
    beside: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text not in MEETINGS:
            beside.append(token.text)
            index += 1
            continue
        end = closing(tokens, index + 1)
        inside = tokens[index + 2 : end]
        if has_meeting(inside) or tokens[index + 1].text != "(":
            raise Unclear
        found.append(_call(token.text, tuple(tokens[index : end + 1]), inside, macros))
        index = end + 1
    if not _ONE_BY_ONE.isdisjoint(beside) or beside[0] in ("return", "switch", "for"):
        raise Unclear
    if len(at_commas(tokens)) > 1:
        raise Unclear
    if sum(text in ("=", "+=", "-=", "*=", "|=", "&=", "^=") for text in beside) > 1:
        raise Unclear
    return tuple(found)


def _call(name: str, tokens: tuple[Token, ...], inside: Sequence[Token], macros: Macros) -> Call:
    given = [tuple(row) for row in at_commas(inside)]
    if any(t.text in ("=", "++", "--", "{") for t in inside):
        raise Unclear
    if name in _OF_BLOCK:
        return Call(tokens, tuple(given), *_OF_BLOCK[name])
    if name not in _OF_WARP or not _is_full(given[0], macros):
        raise Unclear
    return Call(tokens, tuple(given[1:]), *_OF_WARP[name])


def _is_full(mask: Sequence[Token], macros: Macros) -> bool:
    """Whether a mask is written as that of all lanes."""
    words = "".join(each.text for t in mask for each in macros.words(t)).lower()
    return words.strip("()").rstrip("ul") in ("0xffffffff", "~0", "-1", "4294967295")
