"""The variables of a body: which names it declares, assigns and reads; fresh names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, expressions, operands, statements

NameGenerator: TypeAlias = Callable[[str], str]  # returns an unused name that begins with a hint


def names_in(*values: ir.Expr) -> list[str]:
    """Return the names of the variables that expressions read."""
    return [e.name for value in values for e in expressions(value) if isinstance(e, ir.Var)]


def accessed_names(body: ir.Body) -> frozenset[str]:
    """Return the variables that a body reads or stores elements of."""
    read = {e.name for e in all_expressions(body) if isinstance(e, ir.Var)}
    return frozenset(read | {s.array.name for s in statements(body) if isinstance(s, ir.Store)})


def referenced_names(body: ir.Body) -> set[str]:
    """Return the variables and arrays that a body reads, assigns or stores to.

    A declaration alone does not count.
    """
    result = {name for s in statements(body) for name in names_in(*operands(s))}
    for s in statements(body):
        if isinstance(s, ir.Assign | ir.For):
            result.add(s.var.name)
        elif isinstance(s, ir.Store):
            result.add(s.array.name)
    return result


def declared_names(body: ir.Body) -> set[str]:
    """Return the variables and arrays that a body declares, loop counters included."""
    return {
        s.var.name for s in statements(body) if isinstance(s, ir.Declare | ir.Allocate | ir.For)
    }


def fresh_names(kernel: ir.Function) -> NameGenerator:
    """Return a generator of names that the kernel does not use."""
    used: set[str] = set()

    def fresh(name: str) -> str:
        if not used:  # most passes that may need names need none
            used.update(p.name for p in kernel.parameters)
            used.update(declared_names(kernel.body))
            used.update(e.name for e in all_expressions(kernel.body) if isinstance(e, ir.Var))
        candidate, number = name, 0
        while candidate in used:
            number += 1
            candidate = f"{name}.{number}"
        used.add(candidate)
        return candidate

    return fresh


def assigned_names(body: ir.Body) -> set[str]:
    """Return the variables that a body assigns after their declaration."""
    return {s.var.name for s in statements(body) if isinstance(s, ir.Assign)}


def defined_names(body: ir.Body) -> set[str]:
    """Return the variables that a body declares or assigns, without loop counters and arrays."""
    return {s.var.name for s in statements(body) if isinstance(s, ir.Declare | ir.Assign)}


def names_by_statement(body: ir.Body) -> dict[int, frozenset[str]]:
    """Map the identity of each statement to the variables that it and its blocks use.

    They are those that it reads, declares, assigns or counts with.
    """
    names: dict[int, frozenset[str]] = {}

    def collect(block: ir.Body) -> None:
        for s in block:
            used = {*names_in(*operands(s))}
            if isinstance(s, ir.Declare | ir.Assign | ir.For):
                used.add(s.var.name)
            for inner in bodies(s):
                collect(inner)
                used.update(*(names[id(x)] for x in inner))
            names[id(s)] = frozenset(used)

    collect(body)
    return names


def assignment_counts(function: ir.Function) -> Counter[str]:
    """Count the definitions of each variable; parameters are defined at the start."""
    counts = Counter(p.name for p in function.parameters)
    definitions = ir.Assign | ir.Declare | ir.For
    counts.update(s.var.name for s in statements(function.body) if isinstance(s, definitions))
    return counts


def single_assignments(function: ir.Function) -> dict[str, ir.Expr]:
    """Map each variable with one definition, an assignment, to its value; it is 0 before."""
    counts = assignment_counts(function)
    assignments = (s for s in statements(function.body) if isinstance(s, ir.Assign))
    return {s.var.name: s.value for s in assignments if counts[s.var.name] == 1}


def count_uses(body: ir.Body) -> Counter[str]:
    """Count the reads and assignments of each variable."""
    counts = Counter(e.name for e in all_expressions(body) if isinstance(e, ir.Var))
    counts.update(s.var.name for s in statements(body) if isinstance(s, ir.Assign | ir.For))
    return counts


def single_definitions(body: ir.Body) -> dict[str, ir.Expr]:
    """Map each variable that is never reassigned to the value of its declaration."""
    reassigned = assigned_names(body)
    declarations = [s for s in statements(body) if isinstance(s, ir.Declare)]
    return {
        s.var.name: s.init
        for s in declarations
        if s.init is not None and s.var.name not in reassigned
    }
