"""Find the calls by which a loop polls memory until another thread writes it.

They are atomics whose result is used, fences and ``__ldcv``, in a loop or in a function that a loop
calls: ``while (atomicAdd(&flag, 0) == 0);``. Other atomics that never wait, such as those that
take elements from a queue, may be among them. Calls in macros are not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.statements import (
    LoopStatement,
    SimpleStatement,
    Statement,
    Unanalyzable,
    nested_statements,
    statements,
)
from pycu2c.compat.cuda_text.parse.tokens import Token, closing
from pycu2c.compat.cuda_text.source_text import CudaSource

_ATOMIC = re.compile(r"atomic(Add|Sub|Min|Max|And|Or|Xor|Inc|Dec)(_block|_system)?")
_FENCE_OR_LOAD = re.compile(r"__threadfence(_block|_system)?|__ldcv")
_LOOPS = {"for", "while", "do"}
_CONDITIONS = {"if", "for", "while", "switch"}
_BEFORE_STATEMENTS = {";", "{", "}", "else", "do"}


def polling_calls(text: CudaSource) -> dict[FunctionDefinition, list[tuple[Token, Token]]]:
    """Return the first and the last token of each polling call, by function."""
    bodies = {f: text.tokens[f.body[0] + 1 : f.body[1]] for f in text.functions}
    calls = {f: list(_calls(body)) for f, body in bodies.items()}
    loops = {f: [t for loop in _loops(body) for t in loop] for f, body in bodies.items()}
    starts = {f: {t.start for t in tokens} for f, tokens in loops.items()}
    found = {f: [call for call in calls[f] if call[0].start in starts[f]] for f in bodies}
    names = {t.text for tokens in loops.values() for t in tokens}
    called: set[FunctionDefinition] = set()
    while more := {f for f in bodies if f not in called and f.name.partition("<")[0] in names}:
        called |= more
        names = {t.text for f in more for t in bodies[f]}
    return {f: calls[f] if f in called else found[f] for f in bodies}


def _calls(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    for index, token in enumerate(tokens[:-1]):
        is_atomic = _ATOMIC.fullmatch(token.text) and _is_used(tokens, index)
        if (is_atomic or _FENCE_OR_LOAD.fullmatch(token.text)) and tokens[index + 1].text == "(":
            end = closing(tokens, index + 1)
            if end < len(tokens):
                yield token, tokens[end]


def _is_used(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a call is a part of an expression, not a statement."""
    if index == 0 or tokens[index - 1].text in _BEFORE_STATEMENTS:
        return False
    if tokens[index - 1].text != ")":
        return True
    conditions = (i for i in range(index) if tokens[i].text in _CONDITIONS)
    return all(closing(tokens, i + 1) != index - 1 for i in conditions)  # else it is a cast


def _loops(body: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of the outermost loops, or of a part that may contain loops."""
    try:
        yield from _loops_in(statements(body))
    except Unanalyzable:
        yield body


def _loops_in(found: Sequence[Statement]) -> Iterator[Sequence[Token]]:
    for s in found:
        if isinstance(s, LoopStatement):
            yield s.tokens
        elif not isinstance(s, SimpleStatement):
            yield from _loops_in(nested_statements(s))
        elif any(t.text in _LOOPS for t in s.tokens):  # in a switch or a lambda
            yield s.tokens
