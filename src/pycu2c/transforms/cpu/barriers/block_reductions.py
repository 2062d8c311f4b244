"""Reduce the contributions of threads at a barrier in loops over context arrays.

Elements are cleared first, so threads that do not reach the barrier add nothing. C compilers
vectorize these loops.
"""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.operators import ADD, MUL


def contribution_array(sums: ir.Var, threads: int) -> ir.Var:
    """Return an array with the contribution of each thread, padded to full warps."""
    array_type = sums.type
    assert isinstance(array_type, Array)
    count = -(-threads // WARP) * WARP
    base, _, rest = sums.name.partition(".")
    return replace(sums, name=f"{base}_each.{rest}", type=replace(array_type, shape=(count,)))


def clear(array: ir.Var, span: Span) -> ir.Body:
    """Set each element of an array to 0."""
    index = ir.Var(f"each.{array.name}", WEAK_INT, span)
    return (_loop(index, const(0, span), _length(array), (_zero(array, index, span),)),)


def reduce_contributions(sums: ir.Var, contributions: ir.Var, span: Span) -> ir.Body:
    """Sum the contributions of each warp or block, which are contiguous."""
    contributions_per_sum = _length(contributions) // _length(sums)
    index = ir.Var(f"sum.{sums.name}", WEAK_INT, span)
    contribution = ir.Var(f"each.{contributions.name}", WEAK_INT, span)
    total = binary(
        ADD, ir.Load(sums, (index,), span), ir.Load(contributions, (contribution,), span), span
    )
    first = binary(MUL, index, const(contributions_per_sum, span), span)
    inner = _loop(
        contribution, first, contributions_per_sum, (ir.Store(sums, (index,), total, span),)
    )
    body = (_zero(sums, index, span), inner)
    return (_loop(index, const(0, span), _length(sums), body),)


def _zero(array: ir.Var, index: ir.Var, span: Span) -> ir.Store:
    assert isinstance(array.type, Array)
    return ir.Store(array, (index,), const(0, span, array.type.element), span)


def _loop(index: ir.Var, start: ir.Expr, count: int, body: ir.Body) -> ir.For:
    span = index.span
    stop = binary(ADD, start, const(count, span), span)
    return ir.For(index, start, stop, const(1, span), body, span)


def _length(array: ir.Var) -> int:
    assert isinstance(array.type, Array)
    assert array.type.shape is not None
    return array.type.shape[0]
