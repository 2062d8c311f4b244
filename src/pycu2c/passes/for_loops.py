"""Python's ``for i in range(...)`` -> C's ``for``: the bounds are read once, the counter is the
loop's own. Knows nothing of what is in the body but which variables it assigns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycu2c.ir.construct import binary, both, const, is_atom, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Call,
    Const,
    Expr,
    For,
    Function,
    Junction,
    Select,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, children, expressions, statements
from pycu2c.operators import ADD, GT, LT, SUB, Operator
from pycu2c.passes.intervals import Interval, everything

Fresh = Callable[[str], str]
_Following = Callable[[For, Var, Interval], Expr]


# No computed stop is taken to lie so near to 2**63 that a step leads over it, unless the step
# itself is greater than this.
_LONG_STEP = 1 << 48


def legal_for(
    loop: For, function: Function, stop_and_step: tuple[Interval, Interval], fresh: Fresh
) -> Body:
    """``for i in range(f(x)): ...`` -> ``stop = f(x); for (i = 0; i < stop; ++i) ...``"""
    before: list[Stmt] = []
    assigned = {s.var.name for s in statements(loop.body) if isinstance(s, (Assign, For))}
    # by Python's names: live ranges of one name may become one variable again
    changed = {_python_name(name) for name in (*assigned, loop.var.name)}

    def kept(e: Expr, name: str) -> Expr:
        if _is_steady(e, changed):
            return e
        var = Var(fresh(name), scalar_type(e), e.span)
        before.append(Assign(var, e, e.span))
        return var

    step = stop_and_step[1]
    leaves = _leaves_its_type(loop, *stop_and_step)
    # C's loop is written for steps upwards, and for constants
    if leaves or (step.low <= 0 and not isinstance(loop.step, Const)):
        start, stop = kept(loop.start, "start"), kept(loop.stop, "stop")
        pace = kept(loop.step, "step")
        counting = replace(loop, start=start, stop=stop, step=pace)
        return (*before, *_counted(counting, step, fresh, _clamped if leaves else _added))
    start = loop.start
    if _acts(loop) and not all(_is_steady(e, changed) for e in (loop.stop, loop.step)):
        start = kept(start, "start")  # it is evaluated first
    stop, pace = kept(loop.stop, "stop"), kept(loop.step, "step")
    loop = replace(loop, start=start, stop=stop, step=pace)
    if loop.var.name in assigned or _is_used_outside(loop, function):
        counter = Var(fresh(loop.var.name), loop.var.type, loop.var.span)
        copy = Assign(loop.var, counter, loop.var.span)
        loop = replace(loop, var=counter, body=(copy, *loop.body))
    return (*before, loop)


def _is_steady(e: Expr, changed: set[str]) -> bool:
    """Cheap, and the same in every iteration: a literal, a length, a coordinate, a variable left
    alone."""
    parts = list(expressions(e))
    place = isinstance(e, Apply) and e.intrinsic.is_pure and e.intrinsic.bounds
    if not (is_atom(e) or (place and not children(e))):
        return False
    return not any(isinstance(p, Var) and _python_name(p.name) in changed for p in parts)


def _python_name(name: str) -> str:
    return name.split(".", 1)[0]


def _acts(loop: For) -> bool:
    """Whether finding out the bounds may change memory."""
    bounds = (loop.start, loop.stop, loop.step)
    return any(
        isinstance(e, Call) or (isinstance(e, Apply) and e.intrinsic.has_effect)
        for bound in bounds
        for e in expressions(bound)
    )


def _is_used_outside(loop: For, function: Function) -> bool:
    """Whether the variable lives on after the loop, or is assigned elsewhere."""
    name = loop.var.name
    inside = _uses(loop.body, name)
    everywhere = _uses(function.body, name)
    return everywhere > inside + 1 or any(p.name == name for p in function.parameters)


def _uses(body: Body, name: str) -> int:
    targets = sum(isinstance(s, (Assign, For)) and s.var.name == name for s in statements(body))
    return targets + sum(isinstance(e, Var) and e.name == name for e in all_expressions(body))


def _leaves_its_type(loop: For, stop: Interval, step: Interval) -> bool:
    """Whether the step beyond the last value may be no number of the counter's type."""
    whole = everything(loop.var.type)
    above = step.high > 1 and stop.high + step.high - 1 > whole.high
    below = step.low < -1 and stop.low + step.low + 1 < whole.low
    told = isinstance(loop.stop, Const) or max(step.high, -step.low) > _LONG_STEP
    return told and (above or below)


def _added(loop: For, counter: Var, _: Interval) -> Expr:
    return binary(ADD, counter, loop.step, loop.span)


def _clamped(loop: For, counter: Var, step: Interval) -> Expr:
    """The next value of a counter; the stop if that is no number of its type."""
    own, span = scalar_type(counter), loop.span

    def towards(end: int, beyond: Operator) -> Expr:
        most = binary(SUB, const(end, span, own), loop.step, span)
        over = binary(beyond, counter, most, span)
        return Select(over, loop.stop, _added(loop, counter, step), own, span)

    if step.low > 0:
        return towards(own.dtype.maximum, GT)
    if step.high < 0:
        return towards(own.dtype.minimum, LT)
    upwards = binary(GT, loop.step, const(0, span, own), span)
    ends = towards(own.dtype.maximum, GT), towards(own.dtype.minimum, LT)
    return Select(upwards, *ends, own, span)


def _counted(loop: For, step: Interval, fresh: Fresh, following: _Following) -> Body:
    """Count in a while loop, which looks at the sign of the step if that is open."""
    span = loop.span
    counter = Var(fresh(loop.var.name), scalar_type(loop.var), span)
    zero = const(0, span, scalar_type(loop.step))
    above, below = binary(GT, counter, loop.stop, span), binary(LT, counter, loop.stop, span)
    upwards = both(Junction.AND, binary(GT, loop.step, zero, span), below, span)
    downwards = both(Junction.AND, binary(LT, loop.step, zero, span), above, span)
    body = (
        Assign(loop.var, counter, span),
        Assign(counter, following(loop, counter, step), span),
        *loop.body,
    )
    going = both(Junction.OR, upwards, downwards, span)
    if step.low > 0 or step.high < 0:
        going = below if step.low > 0 else above
    return (Assign(counter, loop.start, span), While(going, body, span))
