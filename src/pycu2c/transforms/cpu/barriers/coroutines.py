"""CPU: what every thread does, in steps from one wait to the next: right for all kernels, and
slower than thread loops.

A loop in which a thread waits for others waits at the end of each round, so that they come first:
``while atomic.cas(…): pass`` -> ``while atomic.cas(…): wait for turn``.

What threads give by the same function has one place for all its calls: those who have met may stand
at different ones. Each takes what it gets before it waits again.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.busy_wait import is_busy_wait
from pycu2c.analysis.suspension_points import waits_in
from pycu2c.base.records import replace
from pycu2c.ir.nodes import (
    Allocate,
    BarrierWait,
    Body,
    Break,
    Continue,
    Contribution,
    CoroutineLoop,
    For,
    Module,
    Return,
    Stmt,
    SyncScope,
    While,
)
from pycu2c.ir.walk import bodies, map_stmt, with_bodies
from pycu2c.transforms.cpu.fission.single_region import is_of_block, with_own_parameters
from pycu2c.transforms.cuda.merge_live_ranges import renamed


def resumable(module: Module) -> Module:
    """The kernel with its arrays that a block shares first, then the steps of its threads."""
    kernel = with_own_parameters(module.kernel)
    names = _common_slots(kernel.body)
    shared: list[Stmt] = []

    def taken(s: Stmt) -> Body:
        if isinstance(s, Allocate) and is_of_block(s):
            if s.var.name not in names:
                shared.append(s)
            return ()
        if isinstance(s, BarrierWait):
            return (replace(s, contributions=tuple(_renamed(g, names) for g in s.contributions)),)
        return (_giving_way(s),) if isinstance(s, For | While) and is_busy_wait(s) else (s,)

    body = renamed(map_stmt(kernel.body, taken), names)
    body = (*shared, CoroutineLoop(body, kernel.span))
    return replace(module, kernel=replace(kernel, body=body))


def _common_slots(body: Body) -> dict[str, str]:
    """From the names of the slots at each place to those of the first one like it."""
    first: dict[object, tuple[Contribution, ...]] = {}
    names: dict[str, str] = {}
    for wait in waits_in(body):
        likeness = (
            wait.intrinsic,
            tuple(
                (contribution.granularity, contribution.array.type)
                for contribution in wait.contributions
            ),
        )
        for own, common in zip(wait.contributions, first.setdefault(likeness, wait.contributions)):
            if own is not common:
                names[own.array.name] = common.array.name
    return names


def _renamed(contribution: Contribution, names: Mapping[str, str]) -> Contribution:
    name = names.get(contribution.array.name, contribution.array.name)
    return replace(contribution, array=replace(contribution.array, name=name))


def _giving_way(loop: For | While) -> Stmt:
    turn = BarrierWait(SyncScope.TURN, None, (), None, loop.span)
    body = _before_continue(loop.body, turn)
    if not (body and isinstance(body[-1], Break | Continue | Return)):
        body = (*body, turn)
    return replace(loop, body=body)


def _before_continue(body: Body, turn: BarrierWait) -> Body:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Continue):
            out.append(replace(turn))
        if not isinstance(s, For | While):
            s = with_bodies(s, tuple(_before_continue(b, turn) for b in bodies(s)))
        out.append(s)
    return tuple(out)
