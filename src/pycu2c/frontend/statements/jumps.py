"""Find and replace ``break`` and ``continue`` in IR blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import Body, Break, Continue, If, Return, Stmt, While
from pycu2c.ir.walk import with_bodies


def has_break(body: Body) -> bool:
    """Return whether a block breaks out of the enclosing loop."""
    return any(isinstance(s, Break) for s in _statements_outside_loops(body))


def has_continue(body: Body) -> bool:
    """Return whether a block continues the enclosing loop."""
    return any(isinstance(s, Continue) for s in _statements_outside_loops(body))


def _statements_outside_loops(body: Body) -> Iterator[Stmt]:
    """Yield the statements of a block outside nested loops."""
    for s in body:
        yield s
        if isinstance(s, If):
            yield from _statements_outside_loops(s.then)
            yield from _statements_outside_loops(s.orelse)


def replace_jumps(
    body: Body, jump: type[Break] | type[Continue], replacement: Callable[[Stmt], Body]
) -> Body:
    """Replace the jumps of a kind with other statements."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, jump):
            out += replacement(s)
        elif isinstance(s, If):
            branches = tuple(replace_jumps(b, jump, replacement) for b in (s.then, s.orelse))
            out.append(with_bodies(s, branches))
        else:
            out.append(s)
    return tuple(out)


def never_falls_through(body: Body) -> bool:
    """Return whether the end of a block is unreachable."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return never_falls_through(last.then) and never_falls_through(last.orelse)
    if isinstance(last, While):
        return getattr(last.condition, "value", None) is True and not has_break(last.body)
    return isinstance(last, (Break, Continue, Return))


def without_continues(body: Body) -> Body | None:
    """Return a body that is executed once without its ``continue`` statements, or None.

    Statements after a branch that ends with ``continue`` move to the other branch. The result is
    None if they would have to move to both.
    """
    for position, s in enumerate(body):
        if isinstance(s, Continue):
            return body[:position]
        if isinstance(s, If) and has_continue((s,)):
            new_if = _branches_without_continues(s, body[position + 1 :])
            return None if new_if is None else (*body[:position], new_if)
    return body


def _branches_without_continues(s: If, rest: Body) -> If | None:
    then, orelse = s.then, s.orelse
    if never_falls_through(then):
        orelse = (*orelse, *rest)
    elif never_falls_through(orelse):
        then = (*then, *rest)
    elif rest:
        return None
    new_then, new_orelse = without_continues(then), without_continues(orelse)
    if new_then is None or new_orelse is None:
        return None
    if not new_then:
        return If(negation(s.condition), new_orelse, (), s.span)
    return If(s.condition, new_then, new_orelse, s.span)
