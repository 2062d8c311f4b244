"""numpy's functions that are operators, or are made of them: ``np.add``, ``np.where``, ``np.clip``.

Knows numbers that are evaluated already, nothing of syntax. What the functions mean is in
``ops/intrinsics/floats/ufuncs.py`` and ``ops/names/operator_functions.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import Kind
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar, float32, int8, join
from pycu2c.frontend.expressions.arithmetic import binary, choose, coerce, once, unary, whole_number
from pycu2c.frontend.expressions.subscripts import part_of
from pycu2c.frontend.function_context import Frame
from pycu2c.ir.builders import both, cast, const, integer, negation, scalar_type, truth
from pycu2c.ir.nodes import Apply, Const, Expr, Junction
from pycu2c.ops.intrinsics.floats.math import KEEPING_WHOLE
from pycu2c.ops.intrinsics.floats.ufuncs import in_double
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.operators import DIV, EQ, MUL, NE, POW, Operator, UnaryOperator

_OF_BOOLS = ("min", "max", "numpy.minimum", "numpy.maximum", "numpy.fmin", "numpy.fmax")


def computed_in(row: Intrinsic, common: Scalar) -> Scalar:
    """Functions of 16-bit floats are computed in float32; the greater of two bools in int8."""
    if common.dtype in row.dtypes:
        return common
    if common.dtype.kind is Kind.BOOL and row.name in _OF_BOOLS:
        return int8
    return float32 if common.dtype.is_half else common


def check_accepted(row: Intrinsic, wide: Scalar, span: Span) -> None:
    """``wide``: the type that a call of the row is computed in."""
    if row.dtypes and wide.dtype not in row.dtypes:
        accepted = ", ".join(str(d) for d in row.dtypes)
        fail(
            "argument-type",
            Label(span, f"{row.name} does not accept `{wide.dtype}`"),
            help=f"it accepts {accepted}",
        )


def applied(row: Intrinsic, given: list[Expr], common: Scalar, span: Span) -> Expr:
    """A row that gives its arguments' type, on numbers brought to ``common``."""
    wide = computed_in(row, common)
    check_accepted(row, wide, span)
    arguments = tuple(cast(coerce(e, common), wide) for e in given)
    return cast(Apply(row, arguments, wide, span), common)


def common_type(given: list[Expr]) -> Scalar:
    return reduce(join, map(scalar_type, given))


# ---- operators ---------------------------------------------------------------------------------


def by_operator(frame: Frame, op: Operator | UnaryOperator, given: list[Expr], span: Span) -> Expr:
    """``np.add(a, b)``."""
    if isinstance(op, UnaryOperator):
        return unary(op, given[0], span)
    left, right = given
    negative = isinstance(right, Const) and right.value < 0
    if op is POW and negative and common_type(given).dtype.is_whole:
        fail(
            "operand-type",
            Label(right.span, "numpy raises no integer to a negative power"),
            help="convert the base: np.power(float32(x), -1)",
        )
    return binary(frame, op, left, right, span)


# ---- functions made of operators -----------------------------------------------------------------


def _where(frame: Frame, given: list[Expr], span: Span) -> Expr:
    condition, then, orelse = given
    return choose(truth(condition), then, orelse, span)


def clipped(value: Expr, least: Expr | None, most: Expr | None, span: Span) -> Expr:
    """``np.clip``; a limit may be left out."""
    common = common_type([e for e in (value, least, most) if e is not None])
    common = WEAK_INT if common == WEAK_BOOL else common
    result = coerce(value, common)
    for name, limit in (("numpy.maximum", least), ("numpy.minimum", most)):
        if limit is not None:
            result = applied(REGISTRY[name], [result, limit], common, span)
    return result


def _square(frame: Frame, given: list[Expr], span: Span) -> Expr:
    return once(frame, given[0], lambda x: binary(frame, MUL, x, x, span))


def _reciprocal(frame: Frame, given: list[Expr], span: Span) -> Expr:
    own = scalar_type(given[0])
    if not own.dtype.is_integer:
        return binary(frame, DIV, integer(1, span), given[0], span)
    one, zero = const(1, span, own), const(0, span, own)

    def spelled(x: Expr) -> Expr:
        rest: Expr = zero
        if own.dtype.is_signed:
            least = const(-1, span, own)
            rest = choose(binary(frame, EQ, x, least, span), least, zero, span)
        return choose(binary(frame, EQ, x, one, span), one, rest, span)

    return once(frame, given[0], spelled)


def _float_power(frame: Frame, given: list[Expr], span: Span) -> Expr:
    left, right = given
    wide = in_double(scalar_type(left), scalar_type(right))
    return binary(frame, POW, cast(left, wide), cast(right, wide), span)


def _both(op: Junction) -> Callable[[Frame, list[Expr], Span], Expr]:
    return lambda frame, given, span: both(op, truth(given[0]), truth(given[1]), span)


def _one_of(frame: Frame, given: list[Expr], span: Span) -> Expr:
    left, right = map(truth, given)
    if isinstance(right, Const):
        return negation(left) if right.value else left
    return binary(frame, NE, left, right, span)


def rounded(frame: Frame, given: list[Expr], span: Span) -> Expr:
    """``np.round(x)``, ``np.round(x, digits)``, ``round(x, digits)``: in the type of ``x``."""
    own = scalar_type(given[0])
    if own.dtype.is_complex:
        fail("argument-type", Label(given[0].span, f"this is `{own}`"), help="round z.real")
    own = WEAK_INT if own.dtype.kind is Kind.BOOL else own
    digits = whole_number(given[1]) if len(given) > 1 else integer(0, span)
    known = digits.value if isinstance(digits, Const) else None
    if own.dtype.is_whole and known is not None and known >= 0:
        return cast(given[0], own)
    if known == 0:
        return applied(REGISTRY["numpy.rint"], [given[0]], own, span)
    row = REGISTRY["round_digits"]
    wide = computed_in(row, own)
    arguments = (cast(given[0], wide), digits)
    return cast(Apply(row, arguments, wide, span), own)


def _part(name: str) -> Callable[[Frame, list[Expr], Span], Expr]:
    return lambda frame, given, span: part_of(given[0], name, span)


MADE_OF_OPERATORS: dict[str, Callable[[Frame, list[Expr], Span], Expr]] = {
    "numpy.where": _where,
    "cuda.selp": _where,
    "numpy.square": _square,
    "numpy.reciprocal": _reciprocal,
    "numpy.float_power": _float_power,
    "numpy.logical_and": _both(Junction.AND),
    "numpy.logical_or": _both(Junction.OR),
    "numpy.logical_xor": _one_of,
    "numpy.round": rounded,
    "numpy.real": _part("real"),
    "numpy.imag": _part("imag"),
}


# ---- functions that give some numbers back as they are --------------------------------------

CONJUGATE = REGISTRY["complex.conjugate"]
KEEPING = (*KEEPING_WHOLE, CONJUGATE)


def as_it_is(row: Intrinsic, given: Expr) -> Expr | None:
    """``math.floor(n)`` of an int: no detour through a float; ``np.conj(x)`` of a real number."""
    dtype = scalar_type(given).dtype
    if row is CONJUGATE and not dtype.is_complex:
        return given
    if row is CONJUGATE or not dtype.is_whole:
        return None
    return cast(given, WEAK_INT) if row.result == "int" else given
