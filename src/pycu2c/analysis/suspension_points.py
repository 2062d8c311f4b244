"""Code that runs in steps from wait to wait: where it waits, and what lives across that."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.analysis.effects import mentioned
from pycu2c.ir.nodes import Allocate, Assign, Body, Declare, For, If, ThreadSteps, Var, Wait
from pycu2c.ir.walk import bodies, statements


def steps_of(body: Body) -> ThreadSteps | None:
    """The steps of a kernel that has been made resumable."""
    return next((s for s in body if isinstance(s, ThreadSteps)), None)


def has_wait(body: Body) -> bool:
    """Whether threads meet in a block."""
    return any(isinstance(s, Wait) for s in statements(body))


def waits_in(body: Body) -> list[Wait]:
    return [s for s in statements(body) if isinstance(s, Wait)]


def kept(body: Body) -> Iterator[Var]:
    """The variables and arrays that a thread keeps from one step to the next: those that are used
    on both sides of a wait."""
    if not waits_in(body):
        return
    last = _last_uses(body)
    for i, s in enumerate(body):
        if isinstance(s, Declare | Allocate):
            if waits_in(body[i : last.get(s.var.name, i)]):
                yield s.var
        elif isinstance(s, For) and waits_in(s.body):
            yield s.var
        for inner in bodies(s):
            yield from kept(inner)


def _last_uses(body: Body) -> dict[str, int]:
    """Where in a block each variable is used no more: behind the last statement that names it;
    before the wait of one that only gives it, or what is inside of an `if` that asks for it."""
    found: dict[str, int] = {}
    for i, s in enumerate(body):
        inside = tuple(x for b in bodies(s) for x in b) if isinstance(s, If | Wait) else (s,)
        changed = {x.var.name for x in statements(inside) if isinstance(x, Assign)}
        within = mentioned(inside) | changed
        for name in mentioned((s,)) | changed:
            found[name] = i + (name in within)
    return found
