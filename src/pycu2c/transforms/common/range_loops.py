"""Legalize ``for i in range(...)`` to C's ``for``: evaluate bounds once, use a private counter."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.analysis.ranges.interval_arithmetic import Interval, all_values
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, integer, is_atom, scalar_type, wrapping_arithmetic
from pycu2c.ir.name_suffixes import source_name
from pycu2c.ir.walk import children, expressions, statements
from pycu2c.ops.intrinsics.builtins import range_trip_count
from pycu2c.ops.operators import ADD, MUL

NameGenerator = Callable[[str], str]


def legalize_for(
    loop: ir.For,
    counter_is_used_outside: bool,
    stop_and_step: tuple[Interval, Interval],
    fresh: NameGenerator,
) -> ir.Body:
    """Legalize a loop over a range.

    ``for i in range(f(x)): …`` -> ``stop = f(x); for (i = 0; i < stop; ++i) …``
    """
    preceding: list[ir.Stmt] = []
    assigned = {s.var.name for s in statements(loop.body) if isinstance(s, (ir.Assign, ir.For))}
    # by Python name: live ranges of one name may be merged again
    changed_names = {source_name(name) for name in (*assigned, loop.var.name)}

    def to_variable(e: ir.Expr, name: str) -> ir.Expr:
        if _is_invariant(e, changed_names):
            return e
        var = ir.Var(fresh(name), scalar_type(e), e.span)
        preceding.append(ir.Assign(var, e, e.span))
        return var

    step = stop_and_step[1]
    # a C loop needs a positive or constant step, and a counter that cannot overflow
    if _may_overflow(loop, *stop_and_step) or (
        step.low <= 0 and not isinstance(loop.step, ir.Const)
    ):
        start, stop = to_variable(loop.start, "start"), to_variable(loop.stop, "stop")
        step_value = to_variable(loop.step, "step")
        return (
            *preceding,
            *_by_trip_count(replace(loop, start=start, stop=stop, step=step_value), fresh),
        )
    start = loop.start
    if _bounds_have_effects(loop) and not all(
        _is_invariant(e, changed_names) for e in (loop.stop, loop.step)
    ):
        start = to_variable(start, "start")  # start is evaluated first
    stop, step_value = to_variable(loop.stop, "stop"), to_variable(loop.step, "step")
    loop = replace(loop, start=start, stop=stop, step=step_value)
    if loop.var.name in assigned or counter_is_used_outside:
        counter = ir.Var(fresh(loop.var.name), loop.var.type, loop.var.span)
        copy = ir.Assign(loop.var, counter, loop.var.span)
        loop = replace(loop, var=counter, body=(copy, *loop.body))
    return (*preceding, loop)


def _is_invariant(e: ir.Expr, changed_names: set[str]) -> bool:
    """Return whether an expression is cheap and the same in every iteration."""
    nodes = list(expressions(e))
    is_coordinate = isinstance(e, ir.Apply) and e.intrinsic.is_pure and e.intrinsic.bounds
    if not (is_atom(e) or (is_coordinate and not children(e))):
        return False
    return not any(isinstance(x, ir.Var) and source_name(x.name) in changed_names for x in nodes)


def _bounds_have_effects(loop: ir.For) -> bool:
    """Return whether evaluating the bounds may change memory."""
    bounds = (loop.start, loop.stop, loop.step)
    return any(
        isinstance(e, ir.Call) or (isinstance(e, ir.Apply) and e.intrinsic.has_effect)
        for bound in bounds
        for e in expressions(bound)
    )


def _may_overflow(loop: ir.For, stop: Interval, step: Interval) -> bool:
    """Return whether the counter may overflow in the step after the last value."""
    type_range = all_values(loop.var.type)
    overflows = step.high > 1 and stop.high + step.high - 1 > type_range.high
    underflows = step.low < -1 and stop.low + step.low + 1 < type_range.low
    return overflows or underflows


def _by_trip_count(loop: ir.For, fresh: NameGenerator) -> ir.Body:
    """Iterate by trip count: ``for r in range(trip_count(a, b, c)): i = a + r * c; …``.

    No number outside ``range(a, b, c)`` is computed, so none can overflow.
    """
    span = loop.span
    start, stop, step = (cast(e, WEAK_INT) for e in (loop.start, loop.stop, loop.step))
    trip_count = ir.Var(fresh("rounds"), WEAK_INT, span)
    iteration = ir.Var(fresh("round"), WEAK_INT, span)
    product = wrapping_arithmetic(MUL, iteration, step, span)
    value = cast(wrapping_arithmetic(ADD, start, product, span), scalar_type(loop.var))
    body = (ir.Assign(loop.var, value, span), *loop.body)
    return (
        ir.Assign(
            trip_count, ir.Apply(range_trip_count, (start, stop, step), WEAK_INT, span), span
        ),
        ir.For(iteration, integer(0, span), trip_count, integer(1, span), body, span),
    )
