"""Merge live ranges of one Python name that have the same type into one variable (CUDA).

``x`` and ``x.1`` of float32 -> ``x``. Live ranges in separate blocks, as ``x`` of two loops, stay
separate: each block declares its own ``x``. So do loop counters, because C scopes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk

# a place in a function: for each block around it, outermost first, the index of the statement
# there, and the number of the block in this statement
_Place: TypeAlias = tuple[tuple[int, int], ...]


def merge_live_ranges(module: ir.Module) -> ir.Module:
    """Merge live ranges: ``x.1 = 2.0:float32`` after ``x = 1.0:float32`` -> ``x = 2.0:float32``."""
    return walk.map_functions(module, _merge_in_function)


def _merge_in_function(function: ir.Function) -> ir.Function:
    names = _representatives(function)
    return replace(function, body=rename_variables(function.body, names)) if names else function


def _representatives(function: ir.Function) -> dict[str, str]:
    """Map the name of each live range to that of the range which C declares for both."""
    counters = {s.var.name for s in walk.statements(function.body) if isinstance(s, ir.For)}
    groups: dict[tuple[str, Scalar], list[_Range]] = {}
    for found in _ranges(function):
        python_name, _, version = found.name.partition(".")
        if found.name not in counters and (version == "" or version.isdigit()):
            groups.setdefault((python_name, found.type), []).append(found)
    return {
        inner.name: min((r for r in ranges if r.is_visible_in(inner)), key=lambda r: r.depth).name
        for ranges in groups.values()
        for inner in ranges
    }


@dataclass(slots=True)
class _Range:
    """The first place that uses a variable, and how many blocks are around all its uses."""

    name: str
    type: Scalar
    first: _Place
    depth: int

    def include(self, place: _Place) -> None:
        while self.first[: self.depth] != place[: self.depth]:
            self.depth -= 1

    def is_visible_in(self, other: _Range) -> bool:
        """Return whether a declaration of this variable is visible where another one is used."""
        depth = self.depth
        return other.first[:depth] == self.first[:depth] and (
            other.depth == depth or self.first[depth][0] <= other.first[depth][0]
        )


def _ranges(function: ir.Function) -> list[_Range]:
    """Return the live range of each scalar variable, in the order of the first uses."""
    ranges = {
        p.name: _Range(p.name, p.type, ((-1, 0),), 0)
        for p in function.parameters
        if isinstance(p.type, Scalar)
    }
    for var, place in _uses(function.body, ()):
        if isinstance(var.type, Scalar):
            found = ranges.setdefault(var.name, _Range(var.name, var.type, place, len(place) - 1))
            found.include(place)
    return list(ranges.values())


def _uses(body: ir.Body, around: _Place) -> Iterator[tuple[ir.Var, _Place]]:
    for i, s in enumerate(body):
        place = (*around, (i, 0))
        if isinstance(s, ir.Assign | ir.Declare):
            yield s.var, place
        for operand in walk.operands(s):
            yield from ((e, place) for e in walk.expressions(operand) if isinstance(e, ir.Var))
        for k, block in enumerate(walk.bodies(s)):
            yield from _uses(block, (*around, (i, k)))


def rename_variables(body: ir.Body, names: dict[str, str]) -> ir.Body:
    """Rename the variables that are keys of ``names`` to their values."""

    def rename(v: ir.Var) -> ir.Var:
        return replace(v, name=names[v.name]) if v.name in names else v

    def expression(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Var):
            return rename(e)
        if isinstance(e, ir.Let) and e.name in names:
            return replace(e, name=names[e.name])
        return e

    def statement(s: ir.Stmt) -> ir.Stmt:
        s = walk.map_operands(s, lambda e: walk.rewrite(e, expression))
        s = walk.map_bodies(s, lambda b: rename_variables(b, names))
        match s:
            case ir.Assign() | ir.Declare() | ir.For() | ir.Allocate() if s.var.name in names:
                return replace(s, var=rename(s.var))
            case ir.Store() if s.array.name in names:
                return replace(s, array=rename(s.array))
            case _:
                return s

    return tuple(statement(s) for s in body)
