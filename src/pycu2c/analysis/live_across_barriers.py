"""Sets of variables that decide what is live from one work-item loop to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pycu2c.analysis.effects import names_in
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, operands, statements

NameGenerator: TypeAlias = Callable[[str], str]  # makes an unused name from a hint
Assigned: TypeAlias = "frozenset[str] | None"  # definitely assigned; None: unreachable


def work_item_loops_in(body: ir.Body) -> Iterator[ir.WorkItemLoop]:
    return (s for s in statements(body) if isinstance(s, ir.WorkItemLoop))


def block_scalars(body: ir.Body) -> set[str]:
    """Return the variables declared outside all work-item loops, counters included."""
    inside = {s for loop in work_item_loops_in(body) for s in statements(loop.body)}
    outside = (
        s for s in statements(body) if isinstance(s, ir.Declare | ir.For) and s not in inside
    )
    return {s.var.name for s in outside}


def referenced_names(body: ir.Body) -> set[str]:
    """Return the variables and arrays that a body reads or assigns, not those it declares."""
    found = {name for s in statements(body) for name in names_in(*operands(s))}
    for s in statements(body):
        if isinstance(s, ir.Assign | ir.For):
            found.add(s.var.name)
        elif isinstance(s, ir.Store):
            found.add(s.array.name)
    return found


def declared_names(body: ir.Body) -> set[str]:
    return {
        s.var.name for s in statements(body) if isinstance(s, ir.Declare | ir.Allocate | ir.For)
    }


def fresh_names(kernel: ir.Function) -> NameGenerator:
    """Return a generator of names that the kernel does not use."""
    used = {p.name for p in kernel.parameters} | declared_names(kernel.body)
    used |= {e.name for e in all_expressions(kernel.body) if isinstance(e, ir.Var)}

    def fresh(name: str) -> str:
        candidate, number = name, 0
        while candidate in used:
            number += 1
            candidate = f"{name}.{number}"
        used.add(candidate)
        return candidate

    return fresh


def assigned_names(body: ir.Body) -> set[str]:
    """Return the variables that a body declares or assigns."""
    return {s.var.name for s in statements(body) if isinstance(s, ir.Declare | ir.Assign)}


def single_definitions(body: ir.Body) -> dict[str, ir.Expr]:
    """Map each variable that is never reassigned to the value of its declaration."""
    reassigned = {s.var.name for s in statements(body) if isinstance(s, ir.Assign)}
    declarations = [s for s in statements(body) if isinstance(s, ir.Declare)]
    return {
        s.var.name: s.init
        for s in declarations
        if s.init is not None and s.var.name not in reassigned
    }


def upward_exposed_reads(body: ir.Body) -> set[str]:
    """Return the variables that a body may read before it assigns them."""
    analysis = _UpwardExposedReads()
    analysis.block(body, frozenset())
    return analysis.found


@dataclass(slots=True)
class _UpwardExposedReads:
    found: set[str] = field(default_factory=set)

    def block(self, body: ir.Body, assigned: Assigned) -> Assigned:
        for s in body:
            if assigned is None:
                return None
            self.found |= set(names_in(*operands(s))) - assigned - _counter(s)
            assigned = self._transfer(s, assigned)
        return assigned

    def _transfer(self, s: ir.Stmt, assigned: frozenset[str]) -> Assigned:
        match s:
            case ir.Declare() | ir.Assign():
                return assigned | {s.var.name}
            case ir.If():
                then, orelse = self.block(s.then, assigned), self.block(s.orelse, assigned)
                if then is None or orelse is None:
                    return orelse if then is None else then
                return then & orelse
            case ir.While() | ir.For():
                self.block(s.body, assigned | _counter(s))
                return assigned  # the body may not be executed
            case ir.Break() | ir.Continue() | ir.Return() | ir.NextWorkItem():
                return None
            case _:
                return assigned


def _counter(s: ir.Stmt) -> frozenset[str]:
    return frozenset({s.var.name}) if isinstance(s, ir.For) else frozenset()
