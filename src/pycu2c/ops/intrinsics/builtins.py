"""Python's operators and builtins that are calls in C, with the types that they support.

``python.floordiv`` and its neighbours are what ``transforms/common/legalize`` puts in place of an
operator whose C namesake means something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import (
    BFLOAT16,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    DType,
)
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert, scalar_of
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import T, float64
from pycu2c.ops.intrinsics.registry import declare, intrinsic
from pycu2c.ops.intrinsics.spelling import by_kind, helper, library, overloaded
from pycu2c.ops.operators import FLOORDIV, MOD, NEG, POW, SHL, SHR

INTEGERS = tuple(dtype for dtype in DTYPES if dtype.is_integer)
NUMBERS = tuple(
    dtype for dtype in DTYPES if dtype.is_integer or (dtype.is_float and not dtype.is_half)
)


def _absolute(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    """Call a helper for signed integers, because C's ``abs`` is undefined for the minimum."""
    return helper("abs")(a, dtype) if dtype.is_signed else a["x"]


_ABSOLUTE = by_kind(floats=library("fabs"), integers=_absolute)


@intrinsic("abs", dtypes=NUMBERS, spelling=_ABSOLUTE)
def absolute(x: T) -> T:
    """Return the absolute value; the minimum of an integer type wraps to itself."""
    scalar = scalar_of(x)
    assert scalar is not None
    with np.errstate(all="ignore"):
        return convert(abs(x), scalar)


def _widened_negative(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    wide = c.CastExpr(c.NamedType("int32_t"), a["x"])
    return c.CastExpr(c.NamedType(dtype.c), c.UnaryExpr("-", wide))


@intrinsic("python.neg", dtypes=(INT16,), cuda=helper("neg"), c=_widened_negative)
def negative(x: T) -> T:
    """Return ``-x``; the minimum of an integer type wraps to itself."""
    return NEG.reference(x)


OPERATOR_INTRINSICS = {
    operator: declare(
        __name__,
        f"python.{operator.name}",
        "a: T, b: T -> T",
        operator.reference,
        doc,
        dtypes=INTEGERS if operator in (SHL, SHR) else NUMBERS,
        spelling=spell,
    )
    for operator, spell, doc in (
        (
            FLOORDIV,
            helper("floordiv"),
            "Return ``a // b``, rounded down; 0 if the integer ``b`` is 0.",
        ),
        (
            MOD,
            helper("mod"),
            "Return ``a % b``, with the sign of ``b``; 0 if the integer ``b`` is 0.",
        ),
        (
            POW,
            by_kind(floats=library("pow"), integers=helper("pow")),
            "Return ``a ** b``; integers wrap, and a negative power is truncated to 0, 1 or -1.",
        ),
        (SHL, helper("shl"), "Return ``a << b``; 0 if ``b`` is the width or more."),
        (SHR, helper("shr"), "Return ``a >> b``; only sign bits if ``b`` is the width or more."),
    )
}


@intrinsic("python.compared")
def compared_as_float(number: int) -> float64:
    """Mark a Python int that is compared exactly with a Python float.

    ``transforms/common/legalize`` lowers the comparison.
    """
    return float(number)


def range_length(start: int, stop: int, step: int) -> int:
    """Return ``len(range(…))``; 0 for step 0."""
    return max(0, -((start - stop) // step)) if step else 0


@intrinsic("python.trip_count", dtypes=(INT32, INT64), spelling=helper("trip_count"))
def range_trip_count(start: T, stop: T, step: T) -> T:
    """Return the length of a range, at most the maximum of the type; 0 for step 0."""
    scalar = scalar_of(start)
    assert scalar is not None
    length = range_length(int(start), int(stop), int(step))
    return convert(min(length, scalar.dtype.maximum), scalar)


# ---- minimum and maximum of Python, and of numpy, which propagates NaN -----------------------


def _in_type(compute: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    scalar = scalar_of(a)
    assert scalar is not None
    return convert(compute(a, b), scalar)


MIN_MAX_INTRINSICS = tuple(
    declare(
        __name__,
        name,
        "a: T, b: T -> T",
        partial(_in_type, compute),
        doc,
        dtypes=NUMBERS,
        cuda=by_kind(floats=helper(name.rpartition(".")[2]), integers=overloaded(cuda)),
        c=helper(name.rpartition(".")[2]),
        bindings=(compute,) if isinstance(compute, np.ufunc) else (),
    )
    for name, compute, cuda, doc in (
        ("min", min, "min", "Return ``b if b < a else a``."),
        ("max", max, "max", "Return ``b if b > a else a``."),
        ("numpy.minimum", np.minimum, "min", "Return the smaller number, or NaN if one is NaN."),
        ("numpy.maximum", np.maximum, "max", "Return the larger number, or NaN if one is NaN."),
    )
)


# ---- rounding to decimal digits ---------------------------------------------------------------


@intrinsic("round_digits", dtypes=(*NUMBERS, FLOAT16, BFLOAT16), spelling=helper("round_digits"))
def round_digits(x: T, digits: int) -> T:
    """Round ``x`` to a number of decimal digits, ties to even, as ``np.round`` does.

    Floats are scaled, rounded and scaled back, each time in their type; integers are exact.
    """
    scalar = scalar_of(x)
    assert scalar is not None
    if scalar.dtype.is_integer:
        return convert(round(int(x), max(digits, -30)), scalar)  # 10**30 exceeds all integers
    if scalar.dtype is BFLOAT16:
        return _round_bfloat16(x, digits, scalar)
    with np.errstate(all="ignore"):
        rounded: Any = np.round(scalar.dtype.numpy.type(x), digits)
    return convert(rounded, scalar)


def _round_bfloat16(x: Any, digits: int, scalar: Scalar) -> Any:
    """Round as NumPy does: by a power of 10 in float64, with a bfloat16 after each step."""
    power = np.prod(np.full(min(abs(digits), 400), 10.0))
    with np.errstate(all="ignore"):
        if digits < 0:
            return convert(np.rint(float(convert(float(x) / power, scalar))) * power, scalar)
        return convert(np.rint(float(convert(float(x) * power, scalar))) / power, scalar)


@intrinsic("round_decimal", dtypes=(FLOAT32, FLOAT64), spelling=helper("round_decimal"))
def round_decimal(x: T, digits: int) -> T:
    """Round a Python float to a number of decimal digits, ties to even, as ``round`` does.

    The result is the float nearest to the rounded decimal.
    """
    scalar = scalar_of(x)
    assert scalar is not None
    try:
        return convert(round(float(x), digits), scalar)
    except OverflowError:
        return convert(math.copysign(math.inf, x), scalar)
