"""A loop over threads whose choices are sure where it stays inside of the data is written twice.

``for t < 256: part[t] = x[i + t] if i + t < n else 0`` ->
``if 256 <= n - i: for t < 256: part[t] = x[i + t]`` and, else, the loop as it was.

A load under a condition is made a vector only where the processor has masks. Done for loops over
blocks of a size that is known: one over a row of blocks mostly begins and ends where the data do.
"""

from __future__ import annotations

from pycu2c.analysis.effects import reads_memory
from pycu2c.analysis.thread_bounds import BoundSolver, IsInvariant, conjuncts
from pycu2c.base.records import replace
from pycu2c.ir import printer
from pycu2c.ir.builders import binary, logical
from pycu2c.ir.nodes import AxisLoop, Const, Expr, If, LogicalOp, Select, Stmt
from pycu2c.ir.walk import all_expressions, map_expr
from pycu2c.ops.operators import LE

_LONGEST = 80  # nodes of a body that is written twice


def version_loop(loop: AxisLoop, known: BoundSolver, steady: IsInvariant) -> Stmt:
    """``steady``: whether a number is the same for all threads of the loop."""
    parts = list(all_expressions(loop.body))
    of_block = isinstance(loop.start, Const) and isinstance(loop.stop, Const)
    if not (of_block and loop.lockstep) or len(parts) > _LONGEST:
        return loop
    sides: list[Expr] = []
    sure: set[Expr] = set()
    for e in parts:
        if isinstance(e, Select) and reads_memory(e.then):
            needed = _needed(e.condition, loop, known, steady)
            if needed:
                sure.add(e.condition)
                sides += needed
    if not sure:
        return loop

    def chosen(e: Expr) -> Expr:
        return e.then if isinstance(e, Select) and e.condition in sure else e

    inside = replace(loop, body=map_expr(loop.body, chosen))
    whole = sides[0]
    for side in sides[1:]:
        whole = (
            whole
            if printer.print_expr(side) in map(printer.print_expr, conjuncts(whole))
            else (logical(LogicalOp.AND, whole, side, loop.span))
        )
    return If(whole, (inside,), (loop,), loop.span)


def _needed(
    condition: Expr, loop: AxisLoop, known: BoundSolver, steady: IsInvariant
) -> list[Expr] | None:
    """What has to be so for a condition to hold for all threads of a loop; None if there is
    nothing that could be asked."""
    found: list[Expr] = []
    for part in conjuncts(condition):
        bound = known.bound(part, loop.var, steady)
        if bound is None or bound.step is not None:
            return None
        if bound.start is not None:
            found.append(binary(LE, bound.start, loop.start, part.span))
        if bound.stop is not None:
            found.append(binary(LE, loop.stop, bound.stop, part.span))
    if any(isinstance(e, Const) and not e.value for e in found):
        return None
    return [e for e in found if not isinstance(e, Const)]
