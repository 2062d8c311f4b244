"""Infer the extent of the grid from the lengths that a kernel compares its grid index with."""

from __future__ import annotations

from collections import Counter

from pycu2c.base.index_bounds import Length
from pycu2c.ir.nodes import Apply, Assign, Binary, Dim, Expr, Function, Var
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import GE, GT, LE, LT


def _name(e: Expr) -> str:
    return e.intrinsic.name if isinstance(e, Apply) else ""


def data_extent(kernel: Function) -> tuple[Length, ...] | None:
    """What the kernel compares its place in the grid with, for each axis that it uses: the size
    of its data, if it makes that plain; None otherwise."""
    assigned = [s for s in statements(kernel.body) if isinstance(s, Assign)]
    places = {
        s.var.name: _name(s.value)[-1] for s in assigned if _name(s.value).startswith("cuda.grid.")
    }
    once = {name for name, n in Counter(s.var.name for s in assigned).items() if n == 1}
    named = {s.var.name: length_of(s.value, kernel) for s in assigned if s.var.name in once}
    found: dict[str, Length] = {}
    for e in all_expressions(kernel.body):
        if isinstance(e, Binary) and e.op in (LT, GE, GT, LE):
            place, bound = (e.left, e.right) if e.op in (LT, GE) else (e.right, e.left)
            own = named.get(bound.name) if isinstance(bound, Var) else None
            length = own or length_of(bound, kernel)
            axis = places.get(place.name) if isinstance(place, Var) else None
            if axis and length and found.setdefault(axis, length) != length:
                return None  # compared with two lengths: not plain
    used = sorted(set(places.values()))
    if not used or used != list("xyz")[: len(used)] or any(axis not in found for axis in used):
        return None
    return tuple(found[axis] for axis in used)


def length_of(e: Expr, kernel: Function) -> Length | None:
    """What an expression is, if it is a length of an argument, or an argument."""
    name = e.array.name if isinstance(e, Dim) else e.name if isinstance(e, Var) else None
    for p in kernel.parameters:
        if p.name == name:
            return Length(p.argument, e.axis if isinstance(e, Dim) else None)
    return None
