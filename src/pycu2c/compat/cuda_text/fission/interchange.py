"""Choose the loops to interchange with the loop over the threads.

These are reductions over memory with a variable trip count, such as ``sum += a[i * n + t]``. Thread
by thread, such a loop reads a column and serializes the additions; interchanged, it reads rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycu2c.compat.cuda_text.fission.variables import assignment
from pycu2c.compat.cuda_text.parse.statements import (
    BlockStatement,
    IfStatement,
    LoopStatement,
    SimpleStatement,
    Statement,
    nested_statements,
)
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, tokens_of

_NOT_INTERCHANGEABLE = frozenset(
    ("break", "continue", "return", "for", "switch", "?", "{", "goto", "__syncthreads")
)


def without_guard(body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Replace a last ``if (c) {…}`` by ``if (!(c)) return; {…}``."""
    if not body or not isinstance(body[-1], IfStatement) or body[-1].otherwise:
        return tuple(body)
    first, condition = body[-1].tokens[0], body[-1].condition
    head, tail = (
        [Token(t.kind, t.text, first.start, first.end) for t in tokens_of(text)]
        for text in ("if (!(", ")) return;")
    )
    tokens = (*head, *condition, *tail)
    guard = IfStatement(tokens, condition, SimpleStatement(tokens[-2:]), None)
    return (*body[:-1], guard, body[-1].then)


def loops_to_interchange(
    body: Sequence[Statement], functions: frozenset[str], constants: frozenset[str]
) -> Iterator[int]:
    """Yield the start offsets of the loops.

    ``functions``: those that the text defines, which may have side effects.
    """
    for statement in body:
        nested = nested_statements(statement)
        if isinstance(statement, LoopStatement):
            inner = nested[0].body if isinstance(nested[0], BlockStatement) else nested
            words = {t.text for s in inner for t in s.tokens}
            is_simple = all(isinstance(s, SimpleStatement) for s in inner)
            counters = {t.text for t in statement.init if t.kind == "identifier"}
            bounds = {t.text for t in statement.condition if t.kind == "identifier"}
            if (
                is_simple
                and statement.step
                and words.isdisjoint(_NOT_INTERCHANGEABLE | functions)
                and any(assignment(s.tokens) for s in inner)
                and bounds - constants - counters
                and _has_strided_access(statement.tokens, counters)
            ):
                yield statement.tokens[0].start
        else:
            yield from loops_to_interchange(nested, functions, constants)


def _has_strided_access(tokens: Sequence[Token], counters: set[str]) -> bool:
    """Return whether iterations access memory with a stride, or all threads the same element."""
    is_strided = []
    for index, token in enumerate(tokens):
        if token.text == "[":
            subscript = ["", *(t.text for t in tokens[index + 1 : closing(tokens, index)]), ""]
            for before, text, after in zip(subscript, subscript[1:], subscript[2:]):
                if text in counters:
                    alone = None if len(subscript) == 3 else False
                    is_strided.append("*" in (before, after) or alone)
    return True in is_strided or (bool(is_strided) and False not in is_strided)
