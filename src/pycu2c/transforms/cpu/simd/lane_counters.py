"""Convert strip-mined ``for`` loops to ``while`` loops with a counter per lane.

The loop then has one exit, and several iterations can be executed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const, logical, scalar_type
from pycu2c.ir.walk import map_bodies, statements
from pycu2c.ops.operators import ADD, GT, LT
from pycu2c.transforms.cpu.simd.if_conversion import selects_wide_floats


def use_lane_counters(
    body: ir.Body, loops: Mapping[ir.Stmt, Set[str]], fresh: Callable[[str], str]
) -> ir.Body:
    """Convert the loops that are if-convertible.

    ``for k in range(n): if c: break`` -> ``next = 0; while next < n: k = next; next = next + 1; if
    c: break``. ``loops`` maps each strip-mined loop to the variables that are live after it.
    """
    out: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.For) and s in loops and _is_if_convertible(s, loops[s]):
            out += _to_while(s, fresh)
        elif s in loops:
            out.append(s)
        else:
            out.append(map_bodies(s, lambda b: use_lane_counters(b, loops, fresh)))
    return tuple(out)


def _is_if_convertible(loop: ir.For, live_out: Set[str]) -> bool:
    has_inner_loops = any(isinstance(s, ir.While | ir.For) for s in statements(loop.body))
    return not has_inner_loops and not selects_wide_floats(loop.body, live_out)


def _to_while(s: ir.For, fresh: Callable[[str], str]) -> ir.Body:
    counter = replace(s.var, name=fresh("next"), span=s.span)
    condition = continuation_condition(replace(s, var=counter))
    step = ir.Assign(counter, binary(ADD, counter, s.step, s.span), s.span)
    body = (ir.Declare(s.var, counter, s.span), step, *s.body)
    return (ir.Declare(counter, s.start, s.span), ir.While(condition, body, s.span))


def continuation_condition(s: ir.While | ir.For) -> ir.Expr:
    """Return the condition of a loop; for a For with a variable step, in either direction."""
    if isinstance(s, ir.While):
        return s.condition
    zero = const(0, s.span, scalar_type(s.step))
    ascending = binary(LT, s.var, s.stop, s.span)
    descending = binary(GT, s.var, s.stop, s.span)
    if isinstance(s.step, ir.Const):
        return ascending if s.step.value > 0 else descending
    ascending = logical(ir.LogicalOp.AND, binary(GT, s.step, zero, s.span), ascending, s.span)
    descending = logical(ir.LogicalOp.AND, binary(LT, s.step, zero, s.span), descending, s.span)
    return logical(ir.LogicalOp.OR, ascending, descending, s.span)
