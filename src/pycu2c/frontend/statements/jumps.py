"""Find and replace ``break`` and ``continue`` in IR blocks."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.ir.builders import negation
from pycu2c.ir.nodes import Body, Break, Continue, If, Stmt
from pycu2c.ir.walk import has_jump, never_completes, with_bodies


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


def without_continues(body: Body) -> Body | None:
    """Return a body that is executed once without its ``continue`` statements, or None.

    Statements after a branch that ends with ``continue`` move to the other branch. The result is
    None if they would have to move to both.
    """
    for position, s in enumerate(body):
        if isinstance(s, Continue):
            return body[:position]
        if isinstance(s, If) and has_jump((s,), Continue):
            new_if = _branches_without_continues(s, body[position + 1 :])
            return None if new_if is None else (*body[:position], new_if)
    return body


def _branches_without_continues(s: If, rest: Body) -> If | None:
    then, orelse = s.then, s.orelse
    if never_completes(then):
        orelse = (*orelse, *rest)
    elif never_completes(orelse):
        then = (*then, *rest)
    elif rest:
        return None
    new_then, new_orelse = without_continues(then), without_continues(orelse)
    if new_then is None or new_orelse is None:
        return None
    if not new_then:
        return If(negation(s.condition), new_orelse, (), s.span)
    return If(s.condition, new_then, new_orelse, s.span)
