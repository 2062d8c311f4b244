"""``break`` and ``continue`` of a block in the IR: found, replaced, and turned into branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import Body, Break, Continue, If, Return, Stmt, While
from pycu2c.ir.walk import with_bodies


def has_break(body: Body) -> bool:
    """Whether a block leaves the loop around it."""
    return any(isinstance(s, Break) for s in _own(body))


def has_continue(body: Body) -> bool:
    """Whether a block goes on with the next round of the loop around it."""
    return any(isinstance(s, Continue) for s in _own(body))


def _own(body: Body) -> Iterator[Stmt]:
    """The statements of a block that are not in a loop of its own."""
    for s in body:
        yield s
        if isinstance(s, If):
            yield from _own(s.then)
            yield from _own(s.orelse)


def replace_jumps(
    body: Body, jump: type[Break] | type[Continue], new: Callable[[Stmt], Body]
) -> Body:
    """A block with others statements in place of its jumps."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, jump):
            out += new(s)
        elif isinstance(s, If):
            branches = tuple(replace_jumps(b, jump, new) for b in (s.then, s.orelse))
            out.append(with_bodies(s, branches))
        else:
            out.append(s)
    return tuple(out)


def never_falls_through(body: Body) -> bool:
    """Whether the end of a block is never reached."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return never_falls_through(last.then) and never_falls_through(last.orelse)
    if isinstance(last, While):
        return getattr(last.condition, "value", None) is True and not has_break(last.body)
    return isinstance(last, (Break, Continue, Return))


def without_continues(body: Body) -> Body | None:
    """The last round of a loop without ``continue``: what stands behind a branch that ends with
    one goes into the other branch. None if it would have to go into both."""
    for position, s in enumerate(body):
        if isinstance(s, Continue):
            return body[:position]
        if isinstance(s, If) and has_continue((s,)):
            changed = _branches(s, body[position + 1 :])
            return None if changed is None else (*body[:position], changed)
    return body


def _branches(s: If, rest: Body) -> If | None:
    then, orelse = s.then, s.orelse
    if never_falls_through(then):
        orelse = (*orelse, *rest)
    elif never_falls_through(orelse):
        then = (*then, *rest)
    elif rest:
        return None
    first, second = without_continues(then), without_continues(orelse)
    if first is None or second is None:
        return None
    if not first:
        return If(negation(s.condition), second, (), s.span)
    return If(s.condition, first, second, s.span)
