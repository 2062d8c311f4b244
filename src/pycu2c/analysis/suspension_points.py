"""Suspension points of coroutines, and the variables that are live across them.

A suspension point is a ``BarrierWait`` statement: the coroutine of the thread returns to the
scheduler there. Statements may be nested in it, which publish the contributions of the thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.analysis.variables import accessed_names, assigned_names
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import bodies, statements


def coroutine_loop(body: ir.Body) -> ir.CoroutineLoop | None:
    """Return the coroutine body of a kernel that was lowered to coroutines, or None."""
    return next((s for s in body if isinstance(s, ir.CoroutineLoop)), None)


def suspension_points_in(body: ir.Body) -> list[ir.BarrierWait]:
    """Return the suspension points of a body, in program order."""
    return [s for s in statements(body) if isinstance(s, ir.BarrierWait)]


def live_across_suspension_points(body: ir.Body) -> Iterator[ir.Var]:
    """Yield the variables and arrays of a thread that are used on both sides of such a point."""
    if not suspension_points_in(body):
        return
    last = _last_uses(body)
    for i, s in enumerate(body):
        if isinstance(s, ir.Declare | ir.Allocate):
            if suspension_points_in(body[i : last.get(s.var.name, i)]):
                yield s.var
        elif isinstance(s, ir.For) and suspension_points_in(s.body):
            yield s.var
        for inner in bodies(s):
            yield from live_across_suspension_points(inner)


def _last_uses(body: ir.Body) -> dict[str, int]:
    """Map each variable to the number of statements of a block up to and including its last use.

    ``a = 1; b = a; if b: wait`` -> ``{"a": 2, "b": 2}``. An ``if`` or a wait whose condition or
    operands are the last use does not count: the statements nested in it run after that use.
    """
    result: dict[str, int] = {}
    for i, s in enumerate(body):
        inside = (
            tuple(x for b in bodies(s) for x in b)
            if isinstance(s, ir.If | ir.BarrierWait)
            else (s,)
        )
        assigned = assigned_names(inside)
        inside_names = accessed_names(inside) | assigned
        for name in accessed_names((s,)) | assigned:
            result[name] = i + (name in inside_names)
    return result
