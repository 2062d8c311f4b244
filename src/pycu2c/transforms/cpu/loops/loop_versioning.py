"""Version loops over threads: one version without bounds checks (CPU).

``for t < 256: part[t] = x[i + t] if i + t < n else 0`` -> ``if 256 <= n - i: for t < 256: part[t] =
x[i + t]``, else the original loop. Conditional loads are vectorized only on processors with masked
loads. Applies to loops over blocks of constant size; other loops usually start and stop at the
bounds of the data.
"""

from __future__ import annotations

from pycu2c.analysis.effects import reads_memory
from pycu2c.analysis.thread_bounds import BoundSolver, IsInvariant, conjuncts
from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir import printer
from pycu2c.ir.builders import binary, logical
from pycu2c.ir.walk import all_expressions, map_expr
from pycu2c.ops.operators import LE

_MAX_NODES = 80  # of a loop body that is duplicated


def version_loop(loop: ir.AxisLoop, solver: BoundSolver, is_invariant: IsInvariant) -> ir.Stmt:
    """Return the versioned loop, or the loop itself.

    ``is_invariant`` tells whether an expression is the same for all threads of the loop.
    """
    has_constant_bounds = isinstance(loop.start, ir.Const) and isinstance(loop.stop, ir.Const)
    if not (has_constant_bounds and loop.lockstep):
        return loop
    nodes = list(all_expressions(loop.body))
    if len(nodes) > _MAX_NODES:
        return loop
    conditions: list[ir.Expr] = []
    implied: set[ir.Expr] = set()
    for e in nodes:
        if isinstance(e, ir.Select) and reads_memory(e.then):
            needed = _implying_conditions(e.condition, loop, solver, is_invariant)
            if needed:
                implied.add(e.condition)
                conditions += needed
    if not implied:
        return loop

    def select_implied(e: ir.Expr) -> ir.Expr:
        return e.then if isinstance(e, ir.Select) and e.condition in implied else e

    fast_loop = replace(loop, body=map_expr(loop.body, select_implied))
    guard = conditions[0]
    for condition in conditions[1:]:
        guard = (
            guard
            if printer.print_expr(condition) in map(printer.print_expr, conjuncts(guard))
            else (logical(ir.LogicalOp.AND, guard, condition, loop.span))
        )
    return ir.If(guard, (fast_loop,), (loop,), loop.span)


def _implying_conditions(
    condition: ir.Expr, loop: ir.AxisLoop, solver: BoundSolver, is_invariant: IsInvariant
) -> list[ir.Expr] | None:
    """Return conditions that imply ``condition`` for all threads, or None."""
    result: list[ir.Expr] = []
    for conjunct in conjuncts(condition):
        bound = solver.bound(conjunct, loop.var, is_invariant)
        if bound is None or bound.step is not None:
            return None
        if bound.start is not None:
            result.append(binary(LE, bound.start, loop.start, conjunct.span))
        if bound.stop is not None:
            result.append(binary(LE, loop.stop, bound.stop, conjunct.span))
    if any(isinstance(e, ir.Const) and not e.value for e in result):
        return None
    return [e for e in result if not isinstance(e, ir.Const)]
