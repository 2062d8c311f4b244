"""Operators on values of which something is known: the interval of the result, and where it
stands beside terms. Knows nothing of the IR."""

from __future__ import annotations

from collections.abc import Iterable

from pycu2c.analysis.ranges.domain import Form, Knowledge, Term, Value
from pycu2c.analysis.ranges.intervals import (
    ANYTHING,
    FAR,
    Interval,
    everything,
    exact_result,
    greater,
    held,
    is_exact,
    is_whole,
    lesser,
    negated,
)
from pycu2c.base.types import Scalar
from pycu2c.ops.operators import (
    ADD,
    AND,
    EQ,
    FLOORDIV,
    GE,
    GT,
    LE,
    LT,
    MOD,
    MUL,
    NE,
    SHR,
    SUB,
    Operator,
)

_MOST_FORMS = 6


def constant(value: int) -> Value:
    return Value(Interval(value, value))


def read(term: Term, known: Knowledge) -> Value:
    """The value of a term here and now."""
    return Value(known.of(term), (Form(term, 0, 0),))


def converted(value: Value, to: Scalar) -> Value:
    """The value in another type of whole numbers; nothing is known where it may wrap."""
    forms = value.forms if is_exact(value.interval, to) else ()
    return Value(held(value.interval, to), forms)


def computed(op: Operator, a: Value, b: Value, scalar: Scalar, known: Knowledge) -> Value:
    """``a op b`` of whole numbers; beside no term if the result may wrap."""
    if not is_whole(scalar):
        return Value(everything(scalar))
    exact = exact_result(op, a.interval, b.interval, scalar.dtype)
    if op is SUB:
        exact = known.difference(a, b)
    forms = merged(_forms(op, a, b)) if is_exact(exact, scalar) else ()
    return Value(held(exact, scalar), forms)


def turns(a: Value, b: Value, known: Knowledge) -> Interval:
    """Where ``a // b`` lies, if it is proved to be -1, 0 or 1: ``(i + 1) // n`` of an i below n."""
    least_length = b.interval.low
    beyond = known.difference(a, b).high
    if least_length < 1 or a.interval.low < -least_length or beyond >= least_length:
        return ANYTHING
    return Interval(-1 if a.interval.low < 0 else 0, 0 if beyond < 0 else 1)


def _forms(op: Operator, a: Value, b: Value) -> Iterable[Form]:
    x, y = a.interval, b.interval
    if op is ADD:
        return [f.shifted(y) for f in a.forms] + [f.shifted(x) for f in b.forms]
    if op is SUB:
        return [f.shifted(negated(y)) for f in a.forms]
    if op is MUL:
        grown = a.forms if y.low >= 1 and x.low >= 0 else ()
        return [*_at_least(grown), *_at_least(b.forms if x.low >= 1 and y.low >= 0 else ())]
    if op is AND:
        return _at_most([f for v in (a, b) if v.interval.low >= 0 for f in v.forms])
    shrinks = x.low >= 0 and (y.low >= 1 or (op is SHR and y.low >= 0))
    if op is MOD and y.low >= 1:
        below = [Form(f.term, -FAR, f.high - 1) for f in b.forms]
        return [*below, *_at_most(a.forms if shrinks else ())]
    return _at_most(a.forms) if op in (FLOORDIV, SHR) and shrinks else ()


def _at_least(forms: Iterable[Form]) -> list[Form]:
    return [Form(f.term, f.low, FAR) for f in forms]


def _at_most(forms: Iterable[Form]) -> list[Form]:
    return [Form(f.term, -FAR, f.high) for f in forms]


def middle(a: Value, b: Value, known: Knowledge) -> list[Form]:
    """Forms of ``(a + b) // 2``: it lies between the two, and below b if a does."""
    gap = known.difference(b, a)
    if gap.high <= 0:
        a, b, gap = b, a, negated(gap)
    if gap.low < 0:
        return []
    upwards = Interval(gap.low // 2, gap.high // 2)
    downwards = Interval(-((gap.high + 1) // 2), -((gap.low + 1) // 2))
    return [f.shifted(upwards) for f in a.forms] + [f.shifted(downwards) for f in b.forms]


def least(a: Value, b: Value) -> Value:
    forms = merged(_at_most([*a.forms, *b.forms]))
    return Value(lesser(a.interval, b.interval), forms)


def greatest(a: Value, b: Value) -> Value:
    forms = merged(_at_least([*a.forms, *b.forms]))
    return Value(greater(a.interval, b.interval), forms)


def merged(forms: Iterable[Form]) -> tuple[Form, ...]:
    """One form for each term, all that is said of it together."""
    found: dict[Term, Form] = {}
    for f in forms:
        known = found.get(f.term, f)
        found[f.term] = Form(f.term, max(known.low, f.low), min(known.high, f.high))
    return tuple(found.values())[:_MOST_FORMS]


def learned(op: Operator, a: Value, b: Value, known: Knowledge) -> bool:
    """Take in that ``a op b`` holds; False if it cannot."""
    if op in (LT, LE):
        return known.learn(b, a, 1 if op is LT else 0)
    if op in (GT, GE):
        return known.learn(a, b, 1 if op is GT else 0)
    if op is EQ:
        return known.learn(a, b, 0) and known.learn(b, a, 0)
    assert op is NE
    gap = known.difference(a, b)
    if gap == Interval(0, 0):
        return False
    if gap.low == 0:
        return known.learn(a, b, 1)
    return gap.high != 0 or known.learn(b, a, 1)
