"""CPU: what every thread does -> what one block does. Per-thread code stands in ThreadLoops,
which are cut where the threads meet.

``a; syncthreads(); b`` -> ``ThreadLoop(a) ThreadLoop(b)``. Takes flat, legal, declared kernels.

``uniformity`` tells what threads agree on, ``placement`` what stands outside the thread loops,
``regions`` cuts, ``privatize`` keeps what lives across a cut. A thread that has left a loop with
barriers before others goes on when all have left it; so nobody may spin on what it does next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycu2c.dtypes import INT32
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Declare,
    Expr,
    Function,
    Module,
    NextThread,
    Return,
    Stmt,
    ThreadLoop,
    Var,
)
from pycu2c.ir.walk import all_expressions, map_stmt, statements
from pycu2c.passes.crossing import declared
from pycu2c.passes.facts import Facts
from pycu2c.passes.masks import Masks, slots
from pycu2c.passes.merge import renamed
from pycu2c.passes.placement import has_wait, place
from pycu2c.passes.privatize import crossing, privatize
from pycu2c.passes.regions import regions
from pycu2c.passes.uniformity import uniformity
from pycu2c.types import WEAK_BOOL, Array, Scalar, Space


def place_threads(module: Module, facts: Facts) -> Module:
    """Turn the kernel from a thread's code into a block's."""
    kernel = with_own_parameters(module.kernel)
    body = map_stmt(kernel.body, lambda s: (replace(s),))  # passes tell statements by identity
    shared = tuple(s for s in statements(body) if is_of_block(s))
    body = map_stmt(body, lambda s: () if is_of_block(s) else (s,))
    placed = _met(kernel, body, facts.threads) if has_wait(body) else _single(kernel, body)
    return replace(module, kernel=replace(kernel, body=(*shared, *placed)))


def is_of_block(s: Stmt) -> bool:
    """The arrays of a block are there from its beginning, wherever they are written."""
    if not isinstance(s, Allocate):
        return False
    assert isinstance(s.var.type, Array)
    return s.var.type.space in (Space.SHARED, Space.BLOCK)


def with_own_parameters(kernel: Function) -> Function:
    """A parameter that the kernel assigns becomes a variable, so that no thread changes what
    the next one reads."""
    assigned = {s.var.name for s in statements(kernel.body) if isinstance(s, Assign)}
    fresh = _fresh_names(kernel)
    names: dict[str, str] = {}
    copies: list[Stmt] = []
    for p in kernel.parameters:
        if p.name in assigned:
            names[p.name] = fresh(p.name)
            own = Var(names[p.name], p.type, kernel.span)
            copies.append(Declare(own, Var(p.name, p.type, kernel.span), kernel.span))
    return replace(kernel, body=(*copies, *renamed(kernel.body, names)))


def _fresh_names(kernel: Function) -> Callable[[str], str]:
    taken = {p.name for p in kernel.parameters} | declared(kernel.body)
    taken |= {e.name for e in all_expressions(kernel.body) if isinstance(e, Var)}

    def fresh(name: str) -> str:
        free, number = name, 0
        while free in taken:
            number += 1
            free = f"{name}.{number}"
        taken.add(free)
        return free

    return fresh


def _single(kernel: Function, body: Body) -> Body:
    """No barrier: each thread runs to its end."""

    def ended(s: Stmt) -> Body:
        return (NextThread(s.span),) if isinstance(s, Return) else (s,)

    body = map_stmt(body, ended)
    while body and isinstance(body[-1], NextThread):
        body = body[:-1]
    return (ThreadLoop(body, kernel.span),)


def _met(kernel: Function, body: Body, threads: int) -> Body:
    """With barriers: what is uniform and lives from one thread loop to another is computed by
    the block, which may move more code out of the loops; repeated until it moves nothing."""
    agreement = uniformity(body)
    fresh = _fresh_names(kernel)
    state = Var(fresh("state"), Scalar(INT32), kernel.span)
    live = Var(fresh("live"), WEAK_BOOL, kernel.span)
    own = {state.name, live.name}
    everywhere = {p.name for p in kernel.parameters} | _arrays(body)
    wanted: set[str] = set()
    while True:
        masks = Masks(slots(state, threads), live)
        placement = place(body, agreement, wanted)
        cut = regions(body, agreement, placement, masks, kernel.span)
        found = crossing(cut, everywhere | own) - agreement.varying
        if found <= wanted:
            return privatize(cut, everywhere | own, threads)
        wanted |= found


def _arrays(body: Body) -> set[str]:
    """All arrays that a kernel names; where its local ones live is not a scalar's question."""
    named: list[Expr] = [e for e in all_expressions(body) if isinstance(e, Var)]
    named += [s.var for s in statements(body) if isinstance(s, Allocate)]
    return {v.name for v in named if isinstance(v, Var) and isinstance(v.type, Array)}
