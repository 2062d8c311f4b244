"""A loop over numbers that is run in strips -> a loop with a condition, in which each lane counts
for itself: it has one way to leave then, and several rounds can be done at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from pycu2c.base.records import replace
from pycu2c.ir.builders import binary, const, logical, scalar_type
from pycu2c.ir.nodes import Assign, Body, Const, Declare, Expr, For, LogicalOp, Stmt, While
from pycu2c.ir.walk import bodies, statements, with_bodies
from pycu2c.ops.operators import ADD, GT, LT
from pycu2c.transforms.cpu.simd.if_conversion import selects_wide_floats


def use_lane_counters(
    body: Body, loops: Mapping[Stmt, Set[str]], fresh: Callable[[str], str]
) -> Body:
    """``for k in range(n): if c: break`` -> ``next = 0; while next < n: k = next; next = next + 1;
    if c: break``, of those of the loops that go in rounds. ``loops``: each with the variables that
    are read after it."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, For) and s in loops and _may_go_in_rounds(s, loops[s]):
            out += _counting(s, fresh)
        elif s in loops:
            out.append(s)
        else:
            out.append(with_bodies(s, tuple(use_lane_counters(b, loops, fresh) for b in bodies(s))))
    return tuple(out)


def _may_go_in_rounds(loop: For, kept: Set[str]) -> bool:
    inside = any(isinstance(s, While | For) for s in statements(loop.body))
    return not inside and not selects_wide_floats(loop.body, kept)


def _counting(s: For, fresh: Callable[[str], str]) -> Body:
    counter = replace(s.var, name=fresh("next"), span=s.span)
    condition = continuation_condition(replace(s, var=counter))
    step = Assign(counter, binary(ADD, counter, s.step, s.span), s.span)
    body = (Declare(s.var, counter, s.span), step, *s.body)
    return (Declare(counter, s.start, s.span), While(condition, body, s.span))


def continuation_condition(s: While | For) -> Expr:
    """The condition of a loop; of a For whose step is not a literal, for either direction."""
    if isinstance(s, While):
        return s.condition
    zero = const(0, s.span, scalar_type(s.step))
    upwards = binary(LT, s.var, s.stop, s.span)
    downwards = binary(GT, s.var, s.stop, s.span)
    if isinstance(s.step, Const):
        return upwards if s.step.value > 0 else downwards
    upwards = logical(LogicalOp.AND, binary(GT, s.step, zero, s.span), upwards, s.span)
    downwards = logical(LogicalOp.AND, binary(LT, s.step, zero, s.span), downwards, s.span)
    return logical(LogicalOp.OR, upwards, downwards, s.span)
