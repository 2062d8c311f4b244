"""Python's ``for i in range(...)`` -> C's ``for``: the bounds are read once, the counter is the
loop's own. Knows nothing of what is in the body but which variables it assigns."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.analysis.ranges.intervals import Interval, everything
from pycu2c.base.dtypes import UINT64
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.ir.builders import binary, cast, integer, is_atom, scalar_type
from pycu2c.ir.nodes import Apply, Assign, Body, Call, Const, Expr, For, Function, Stmt, Var
from pycu2c.ir.walk import all_expressions, children, expressions, statements
from pycu2c.ops.intrinsics.builtins import rounds
from pycu2c.ops.operators import ADD, MUL, Operator

NameGenerator = Callable[[str], str]


def legal_for(
    loop: For, function: Function, stop_and_step: tuple[Interval, Interval], fresh: NameGenerator
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
    # C's loop is written for steps upwards, and for constants, and to where its counter can go
    if _leaves_its_type(loop, *stop_and_step) or (
        step.low <= 0 and not isinstance(loop.step, Const)
    ):
        start, stop = kept(loop.start, "start"), kept(loop.stop, "stop")
        pace = kept(loop.step, "step")
        return (*before, *_in_rounds(replace(loop, start=start, stop=stop, step=pace), fresh))
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
    return above or below


def _in_rounds(loop: For, fresh: NameGenerator) -> Body:
    """``for i in range(a, b, c): ...`` -> ``for r in range(rounds(a, b, c)): i = a + r * c; ...``:
    no number is computed that the range has not."""
    span = loop.span
    start, stop, step = (cast(e, WEAK_INT) for e in (loop.start, loop.stop, loop.step))
    count = Var(fresh("rounds"), WEAK_INT, span)
    number = Var(fresh("round"), WEAK_INT, span)
    product = _wrapping(MUL, number, step)
    value = cast(_wrapping(ADD, start, product), scalar_type(loop.var))
    body = (Assign(loop.var, value, span), *loop.body)
    return (
        Assign(count, Apply(rounds, (start, stop, step), WEAK_INT, span), span),
        For(number, integer(0, span), count, integer(1, span), body, span),
    )


def _wrapping(op: Operator, left: Expr, right: Expr) -> Expr:
    """What is left of a result beyond 64 bits: in C, signed numbers must have none."""
    unsigned = Scalar(UINT64)
    inside = binary(op, cast(left, unsigned), cast(right, unsigned), left.span)
    return cast(inside, WEAK_INT)
