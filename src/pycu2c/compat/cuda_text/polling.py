"""Let loops that poll memory yield: the fibers of a block share an OS thread.

Before: ``while (atomicOr(flag, 0) == 0);``. After: ``while (atomicOr(flag, 0) == 0) PYCU2C_POLL;``.
The macro yields, so wait detection finds it like a call, and selects fibers.

A loop polls if it reads memory that another thread may write, unless it counts. Such reads are
atomics whose result is used, ``__ldcv``, fences, which precede plain reads, and variables of
volatile and atomic types. ``atomicCAS`` and ``atomicExch`` yield themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycu2c.compat.cuda_text.parse.tokens import OPENING, Token, closing, merge_operators
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.cuda_text.wait_detection import POLL, definitions, names_that_use

_ATOMIC = re.compile(r"atomic(Add|Sub|Min|Max|And|Or|Xor|Inc|Dec)(_block|_system)?")
_TYPE = re.compile("volatile|atomic|atomic_ref|atomic_flag")
_READ = re.compile(rf"{_ATOMIC.pattern}|{_TYPE.pattern}|__threadfence\w*|__ldcv")
_CONDITIONS = frozenset(("if", "for", "while", "switch"))
_CONDITIONAL = _CONDITIONS | {"else", "case", "default"}
_UPDATE = r"(\+\+|--) {0}\b|\b{0} (\+\+|--|(<<|>>|[-+*/%&|^])=|= .*\b{0}\b)"  # of a variable
_BEFORE_STATEMENTS = frozenset((";", "{", "}", "else", "do"))


def with_yields(text: CudaSource) -> CudaSource:
    """Return the text in which the body of each polling loop begins with ``PYCU2C_POLL``."""
    if not any(map(_READ.search, (t.text for t in text.tokens))):
        return text
    bodies = [tokens for _, tokens in definitions(text)]
    unused = {token.start for tokens in bodies for token in _unused_atomics(tokens)}
    names = names_that_use(text, _READ, unused)
    offsets = set()
    for tokens in bodies:
        reads = {t.start for t in tokens if t.text in names or _READ.fullmatch(t.text)} - unused
        declares = any(_TYPE.fullmatch(word) for word in (*names, *(t.text for t in tokens)))
        offsets |= {
            offset
            for offset, header, body in _loops(tokens)
            if (declares and body) or any(t.start in reads for t in (*header, *body))
        }
    starts = [0, *sorted(offsets)]
    parts = [text.code[a:b] for a, b in zip(starts, [*starts[1:], None])]
    return CudaSource(f" {POLL} ".join(parts), text.name)


def _unused_atomics(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the names of atomics that are statements, not parts of an expression."""
    headers = {i: closing(tokens, i + 1) for i, t in enumerate(tokens) if t.text in _CONDITIONS}
    before = {i for i, t in enumerate(tokens) if t.text in _BEFORE_STATEMENTS}
    before -= {i for first, last in headers.items() for i in range(first, last)}
    before.update(headers.values())
    yield from (t for i, t in enumerate(tokens[1:]) if i in before and _ATOMIC.fullmatch(t.text))


def _loops(tokens: Sequence[Token]) -> Iterator[tuple[int, Sequence[Token], Sequence[Token]]]:
    """Yield the offset of each loop's body, the header, and the body unless the loop counts."""
    ends_of_do = set()
    for index, token in enumerate(tokens):
        if token.text == "do":
            end = _last_token(tokens, index + 1) + 1  # "while"
            ends_of_do.add(end)
            if [t.text for t in tokens[end + 1 : end + 4]] != ["(", "0", ")"]:
                yield token.end, (), tokens[index : closing(tokens, end + 1) + 1]
        elif token.text in ("for", "while") and index not in ends_of_do:
            end = closing(tokens, index + 1) + 1
            header, body = tokens[index:end], tokens[end : _last_token(tokens, end) + 1]
            parts = _split(header[2:-1])
            if token.text == "while":
                parts = [(), *parts, _last_statement(body)]
            counts = len(parts) == 1 or _updates(parts[-1], parts[1])  # 1: a range-based loop
            if body:
                yield header[-1].end, (*header, *parts[-1]), () if counts else body


def _last_statement(body: Sequence[Token]) -> Sequence[Token]:
    """Return the last statement of a block, if each iteration executes it."""
    last = [(), *_split(body)][-3]  # ";" and "}" follow
    is_conditional = last and last[0].text in _CONDITIONAL
    return () if is_conditional or "continue" in (t.text for t in body) else last


def _updates(step: Sequence[Token], condition: Sequence[Token]) -> bool:
    """Return whether a step computes a variable of a condition from its last value."""
    text = " ".join(t.text for t in merge_operators(step))
    names = (t.text for t in condition if t.kind == "identifier")
    return any(re.search(_UPDATE.format(name), text) for name in names)


def _split(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Split at semicolons and braces."""
    ends = [i for i, t in enumerate(tokens) if t.text in (";", "{", "}")]
    return [tokens[a + 1 : b] for a, b in zip([-1, *ends], [*ends, len(tokens)])]


def _last_token(tokens: Sequence[Token], start: int) -> int:
    """Return the index of the last token of a statement."""
    index = start
    while index < len(tokens) and tokens[index].text != ";":
        if tokens[index].text in OPENING:
            before = "{" if index == start else tokens[index - 1].text
            is_block = tokens[index].text == "{" and before in ("{", ")", "else", "do")
            index = closing(tokens, index)
            if is_block:
                break
        index += 1
    has_else = [t.text for t in tokens[index + 1 : index + 2]] == ["else"]
    return _last_token(tokens, index + 2) if has_else else index
