"""Which variables live from one thread loop to another. Reads; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pycu2c.analysis.effects import names_in
from pycu2c.base.records import dataclass, field
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    Function,
    If,
    NextThread,
    Return,
    Stmt,
    Store,
    ThreadLoop,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, operands, statements

Fresh: TypeAlias = Callable[[str], str]  # gives a variable a name that is not taken
Known: TypeAlias = "frozenset[str] | None"  # the variables surely set; None where nothing comes


def thread_loops(body: Body) -> Iterator[ThreadLoop]:
    return (s for s in statements(body) if isinstance(s, ThreadLoop))


def block_scalars(body: Body) -> set[str]:
    """The variables that are declared outside all thread loops, counters included."""
    inside = {s for loop in thread_loops(body) for s in statements(loop.body)}
    own = (s for s in statements(body) if isinstance(s, Declare | For) and s not in inside)
    return {s.var.name for s in own}


def mentioned(body: Body) -> set[str]:
    """The variables and arrays that a block reads or sets; declaring alone does not count."""
    found = {name for s in statements(body) for name in names_in(*operands(s))}
    for s in statements(body):
        if isinstance(s, Assign | For):
            found.add(s.var.name)
        elif isinstance(s, Store):
            found.add(s.array.name)
    return found


def declared(body: Body) -> set[str]:
    return {s.var.name for s in statements(body) if isinstance(s, Declare | Allocate | For)}


def fresh_names(kernel: Function) -> Fresh:
    """Gives variables names that the kernel has not yet."""
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


def set_in(body: Body) -> set[str]:
    """The variables that a block declares, or assigns."""
    return {s.var.name for s in statements(body) if isinstance(s, Declare | Assign)}


def set_once(body: Body) -> dict[str, Expr]:
    """The variables that are never assigned anew, with the values of their declarations."""
    changed = {s.var.name for s in statements(body) if isinstance(s, Assign)}
    declared = [s for s in statements(body) if isinstance(s, Declare)]
    return {
        s.var.name: s.init for s in declared if s.init is not None and s.var.name not in changed
    }


def unset_reads(body: Body) -> set[str]:
    """What a block may read before it has set it: what it has from elsewhere."""
    reads = _Reads()
    reads.block(body, frozenset())
    return reads.found


@dataclass(slots=True)
class _Reads:
    found: set[str] = field(default_factory=set)

    def block(self, body: Body, known: Known) -> Known:
        for s in body:
            if known is None:
                return None
            self.found |= set(names_in(*operands(s))) - known - _counter(s)
            known = self._after(s, known)
        return known

    def _after(self, s: Stmt, known: frozenset[str]) -> Known:
        match s:
            case Declare() | Assign():
                return known | {s.var.name}
            case If():
                then, orelse = self.block(s.then, known), self.block(s.orelse, known)
                if then is None or orelse is None:
                    return orelse if then is None else then
                return then & orelse
            case While() | For():
                self.block(s.body, known | _counter(s))
                return known  # it may not be run at all
            case Break() | Continue() | Return() | NextThread():
                return None
            case _:
                return known


def _counter(s: Stmt) -> frozenset[str]:
    return frozenset({s.var.name}) if isinstance(s, For) else frozenset()
