"""CPU: what every thread does, in steps from one wait to the next: right for all kernels, and
slower than thread loops.

A loop in which a thread waits for others waits at the end of each round, so that they come first:
``while atomic.cas(…): pass`` -> ``while atomic.cas(…): wait for turn``.
"""

from __future__ import annotations

from dataclasses import replace

from pycu2c.ir.nodes import (
    Body,
    Break,
    Continue,
    For,
    Meeting,
    Module,
    Return,
    Stmt,
    ThreadSteps,
    Wait,
    While,
)
from pycu2c.ir.spinning import spins
from pycu2c.ir.walk import bodies, map_stmt, with_bodies
from pycu2c.passes.thread_loops import is_of_block, with_own_parameters


def resumable(module: Module) -> Module:
    """The kernel with its arrays that a block shares first, then the steps of its threads."""
    kernel = with_own_parameters(module.kernel)
    shared: list[Stmt] = []

    def taken(s: Stmt) -> Body:
        if is_of_block(s):
            shared.append(s)
            return ()
        return (_giving_way(s),) if isinstance(s, For | While) and spins(s) else (s,)

    body = map_stmt(kernel.body, taken)
    body = (*shared, ThreadSteps(body, kernel.span))
    return replace(module, kernel=replace(kernel, body=body))


def _giving_way(loop: For | While) -> Stmt:
    turn = Wait(Meeting.TURN, None, (), None, loop.span)
    body = _before_continue(loop.body, turn)
    if not (body and isinstance(body[-1], Break | Continue | Return)):
        body = (*body, turn)
    return replace(loop, body=body)


def _before_continue(body: Body, turn: Wait) -> Body:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Continue):
            out.append(replace(turn))
        if not isinstance(s, For | While):
            s = with_bodies(s, tuple(_before_continue(b, turn) for b in bodies(s)))
        out.append(s)
    return tuple(out)
