"""Infer the extent of the grid from the lengths that a kernel compares its grid index with."""

from __future__ import annotations

from collections import Counter

from pycu2c.base.index_bounds import ArgumentExtent
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import GE, GT, LE, LT


def _intrinsic_name(e: ir.Expr) -> str:
    return e.intrinsic.name if isinstance(e, ir.Apply) else ""


def data_extent(kernel: ir.Function) -> tuple[ArgumentExtent, ...] | None:
    """Return the length that each used grid axis is compared with, or None if it is ambiguous."""
    assigned = [s for s in statements(kernel.body) if isinstance(s, ir.Assign)]
    grid_axes = {
        s.var.name: _intrinsic_name(s.value)[-1]
        for s in assigned
        if _intrinsic_name(s.value).startswith("cuda.grid.")
    }
    assigned_once = {name for name, n in Counter(s.var.name for s in assigned).items() if n == 1}
    named_lengths = {
        s.var.name: length_of(s.value, kernel) for s in assigned if s.var.name in assigned_once
    }
    result: dict[str, ArgumentExtent] = {}
    for e in all_expressions(kernel.body):
        if isinstance(e, ir.Binary) and e.op in (LT, GE, GT, LE):
            index, bound = (e.left, e.right) if e.op in (LT, GE) else (e.right, e.left)
            named_length = named_lengths.get(bound.name) if isinstance(bound, ir.Var) else None
            length = named_length or length_of(bound, kernel)
            axis = grid_axes.get(index.name) if isinstance(index, ir.Var) else None
            if axis and length and result.setdefault(axis, length) != length:
                return None  # compared with two lengths: ambiguous
    used_axes = sorted(set(grid_axes.values()))
    if (
        not used_axes
        or used_axes != list("xyz")[: len(used_axes)]
        or any(axis not in result for axis in used_axes)
    ):
        return None
    return tuple(result[axis] for axis in used_axes)


def length_of(e: ir.Expr, kernel: ir.Function) -> ArgumentExtent | None:
    """Return the argument length or argument value that an expression reads, or None."""
    name = e.array.name if isinstance(e, ir.Dim) else e.name if isinstance(e, ir.Var) else None
    for p in kernel.parameters:
        if p.name == name:
            return ArgumentExtent(p.argument, e.axis if isinstance(e, ir.Dim) else None)
    return None
