"""numpy's functions of numbers that have one right answer."""

from __future__ import annotations

from fuzzing.expressions import absorbed, expression, makes, not_constant, only
from fuzzing.operations import condition
from fuzzing.writing import Made, Writer, is_number
from pycu2c.base.types import WEAK_BOOL, Scalar

_OF_NUMBERS = ("add", "subtract", "multiply")
_OF_REAL = ("floor_divide", "remainder", "mod", "fmod")
_OF_INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "left_shift", "right_shift")
_OF_ONE = ("negative", "positive", "square", "conj")
_OF_ONE_REAL = ("absolute", "sign")
_TESTS = ("less", "less_equal", "greater", "greater_equal")
_TESTS_OF_ANY = ("equal", "not_equal", "logical_and", "logical_or", "logical_xor")


def _strong_number(kind: Scalar) -> bool:
    return is_number(kind) and not kind.weak


@makes(1, _strong_number)
def of_two(w: Writer, kind: Scalar, depth: int) -> Made | None:
    names = list(_OF_NUMBERS)
    if not kind.dtype.is_complex:
        names += _OF_REAL
    if kind.dtype.is_integer:
        names += _OF_INTEGERS
    else:
        names.append("divide")
    left, right = expression(w, kind, depth - 1), expression(w, kind, depth - 1)
    if left.constant:
        left = not_constant(w, left)
    return Made(f"np.{w.pick(names)}({left.text}, {right.text})", kind)


@makes(0.6, _strong_number)
def of_one(w: Writer, kind: Scalar, depth: int) -> Made | None:
    names = list(_OF_ONE)
    if not kind.dtype.is_complex:
        names += _OF_ONE_REAL
    if kind.dtype.is_integer:
        names.append("invert")
    inner = expression(w, kind, depth - 1)
    if inner.constant:
        inner = not_constant(w, inner)
    return Made(f"np.{w.pick(names)}({inner.text})", kind)


@makes(0.6, lambda kind: not kind.weak)
def where(w: Writer, kind: Scalar, depth: int) -> Made | None:
    arms = [expression(w, kind, depth - 1), expression(w, absorbed(w, kind), depth - 1)]
    if arms[1].constant:
        arms[1] = not_constant(w, arms[1])
    w.rng.shuffle(arms)
    test = condition(w, depth - 1)
    return Made(f"np.where({test}, {arms[0].text}, {arms[1].text})", kind)


@makes(1, only(WEAK_BOOL))
def test(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Comparisons and logic of two numbers of a type."""
    of = w.scalar()
    left, right = expression(w, of, depth - 1), expression(w, of, depth - 1)
    if left.constant:
        left = not_constant(w, left)
    names = _TESTS_OF_ANY if of.dtype.is_complex else (*_TESTS, *_TESTS_OF_ANY)
    return Made(f"np.{w.pick(names)}({left.text}, {right.text})", kind, 1)
