"""Python's ``math`` and numpy's functions of one or two floats, as tables.

A strong float gives its own type; ints and Python floats give a Python float. Spellings get
the type that the function works in, also where the result is an int or a bool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from pycu2c.dtypes import FLOAT32, FLOAT64, INT64, DType
from pycu2c.intrinsics.c_tree import c
from pycu2c.intrinsics.kinds import F
from pycu2c.intrinsics.registry import Intrinsic, Spell, intrinsic
from pycu2c.intrinsics.spelling import helper, library, plain
from pycu2c.types import WEAK_FLOAT, Scalar, join
from pycu2c.values import Number, convert, scalar_of

FLOATS = (FLOAT32, FLOAT64)


def floating_type(*numbers: Number) -> Scalar:
    """The type that kind ``F`` gives: the join if it is floating, else Python's float."""
    common = reduce(join, (t for t in map(scalar_of, numbers) if t is not None))
    return common if common.dtype.is_float else WEAK_FLOAT


def _evaluate(compute: Callable[..., Any], *numbers: Number) -> Any:
    """``compute`` in the floating type of the numbers, silent where C is."""
    scalar = floating_type(*numbers)
    with np.errstate(all="ignore"):
        return convert(compute(*(convert(n, scalar) for n in numbers)), scalar)


def _declare(name: str, doc: str, body: Callable[..., Any], cuda: Spell, **more: Any) -> Intrinsic:
    body.__doc__ = doc
    return intrinsic(name, dtypes=FLOATS, cuda=cuda, c=more.pop("c", cuda), **more)(body)


# ---- functions that numpy has not: Python's, with C's answer where Python raises -------------


def _quiet(function: Callable[[float], float], pole: float, overflow: float) -> Any:
    """``function`` with ``pole`` for a ValueError and ``overflow`` for an OverflowError."""

    def compute(x: Any) -> float:
        try:
            return function(float(x))
        except ValueError:
            return pole
        except OverflowError:
            return overflow

    return compute


def _gamma(x: Any) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return float(_quiet(math.gamma, math.nan, math.inf)(x))


# ---- floats to float -----------------------------------------------------------------------

# name in Python, name in C, numpy's function (or Python's), meaning
_UNARY: tuple[tuple[str, str, Callable[[Any], Any], str], ...] = (
    ("sin", "sin", np.sin, "The sine of ``x`` radians."),
    ("cos", "cos", np.cos, "The cosine of ``x`` radians."),
    ("tan", "tan", np.tan, "The tangent of ``x`` radians."),
    ("asin", "asin", np.arcsin, "The arc sine, in radians."),
    ("acos", "acos", np.arccos, "The arc cosine, in radians."),
    ("atan", "atan", np.arctan, "The arc tangent, in radians."),
    ("sinh", "sinh", np.sinh, "The hyperbolic sine."),
    ("cosh", "cosh", np.cosh, "The hyperbolic cosine."),
    ("tanh", "tanh", np.tanh, "The hyperbolic tangent."),
    ("asinh", "asinh", np.arcsinh, "The inverse hyperbolic sine."),
    ("acosh", "acosh", np.arccosh, "The inverse hyperbolic cosine."),
    ("atanh", "atanh", np.arctanh, "The inverse hyperbolic tangent."),
    ("exp", "exp", np.exp, "e to the power ``x``."),
    ("exp2", "exp2", np.exp2, "2 to the power ``x``."),
    ("expm1", "expm1", np.expm1, "``exp(x) - 1``, exact near 0."),
    ("log", "log", np.log, "The natural logarithm; -inf of 0, NaN of a negative number."),
    ("log2", "log2", np.log2, "The logarithm to base 2."),
    ("log10", "log10", np.log10, "The logarithm to base 10."),
    ("log1p", "log1p", np.log1p, "``log(1 + x)``, exact near 0."),
    ("sqrt", "sqrt", np.sqrt, "The square root; NaN of a negative number."),
    ("cbrt", "cbrt", np.cbrt, "The cube root."),
    ("fabs", "fabs", np.fabs, "The absolute value, as a float."),
    ("erf", "erf", math.erf, "The error function."),
    ("erfc", "erfc", math.erfc, "The complementary error function."),
    ("gamma", "tgamma", _gamma, "The gamma function."),
    (
        "lgamma",
        "lgamma",
        _quiet(math.lgamma, math.inf, math.inf),
        "The logarithm of the absolute value of the gamma function.",
    ),
)


def _numpy_only(function: Callable[..., Any]) -> tuple[object, ...]:
    return (function,) if isinstance(function, np.ufunc) else ()


def _declare_unary(name: str, stem: str, compute: Callable[[Any], Any], doc: str) -> Intrinsic:
    def body(x: F) -> F:
        return _evaluate(compute, x)

    bindings = (getattr(math, name), *_numpy_only(compute))
    return _declare(f"math.{name}", doc, body, library(stem), bindings=bindings)


UNARY = tuple(_declare_unary(*row) for row in _UNARY)

_BINARY: tuple[tuple[str, str, Callable[[Any, Any], Any], str], ...] = (
    ("pow", "pow", np.power, "``a`` to the power ``b``, as floats."),
    ("atan2", "atan2", np.arctan2, "The angle of the point (``b``, ``a``), in radians."),
    ("hypot", "hypot", np.hypot, "``sqrt(a * a + b * b)`` without overflow."),
    ("fmod", "fmod", np.fmod, "The remainder with the sign of ``a``, as in C."),
    ("copysign", "copysign", np.copysign, "``a`` with the sign of ``b``."),
)
_INTEGRAL_IN_NUMPY = (np.power, np.fmod)  # of two ints these give an int


def _declare_binary(
    name: str, stem: str, compute: Callable[[Any, Any], Any], doc: str
) -> Intrinsic:
    def body(a: F, b: F) -> F:
        return _evaluate(compute, a, b)

    ours = () if compute in _INTEGRAL_IN_NUMPY else _numpy_only(compute)
    bindings = (getattr(math, name), *ours)
    return _declare(f"math.{name}", doc, body, library(stem), bindings=bindings)


BINARY = tuple(_declare_binary(*row) for row in _BINARY)

# ---- rounding: math's give an int, numpy's a float ------------------------------------------

_ROUNDING: tuple[tuple[str, Callable[[Any], Any], object, str], ...] = (
    ("floor", np.floor, math.floor, "The greatest whole number that is not above ``x``"),
    ("ceil", np.ceil, math.ceil, "The least whole number that is not below ``x``"),
    ("trunc", np.trunc, math.trunc, "``x`` without its fraction"),
    ("rint", np.rint, None, "The nearest whole number, the even one of two"),
)


def _whole(stem: str, integer: Callable[[DType], str]) -> Spell:
    """``(long long)floorf(x)``."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.Cast(c.Named(integer(INT64)), library(stem)(a, dtype))

    return spell


def _declare_rounding(
    name: str, compute: Callable[[Any], Any], python: object, doc: str
) -> tuple[Intrinsic, ...]:
    def as_float(x: F) -> F:
        return _evaluate(compute, x)

    def as_int(x: F) -> int:
        return int(convert(_evaluate(compute, x), Scalar(INT64, weak=True)))

    ours = _declare(
        f"numpy.{name}", f"{doc}, as a float.", as_float, library(name), bindings=(compute,)
    )
    if python is None:
        return (ours,)
    theirs = _declare(
        f"math.{name}",
        f"{doc}, as an int.",
        as_int,
        _whole(name, lambda whole: whole.cuda),
        c=_whole(name, lambda whole: whole.c),
        bindings=(python,),
    )
    return ours, theirs


ROUNDING = tuple(row for entry in _ROUNDING for row in _declare_rounding(*entry))

# ---- questions -----------------------------------------------------------------------------

_QUESTIONS: tuple[tuple[str, Callable[[Any], Any], object, str], ...] = (
    ("isnan", np.isnan, math.isnan, "Whether ``x`` is not a number."),
    ("isinf", np.isinf, math.isinf, "Whether ``x`` is an infinity."),
    ("isfinite", np.isfinite, math.isfinite, "Whether ``x`` is neither infinite nor NaN."),
)


def _declare_question(
    name: str, compute: Callable[[Any], Any], python: object, doc: str
) -> Intrinsic:
    def body(x: F) -> bool:
        return bool(compute(convert(x, floating_type(x))))

    return _declare(f"math.{name}", doc, body, plain(name), bindings=(python, compute))


QUESTIONS = tuple(_declare_question(*row) for row in _QUESTIONS)

# ---- angles: a multiplication by a constant --------------------------------------------------


def _scaled(compute: Callable[[Any], Any]) -> Spell:
    """``x * 57.29578f``: numpy's own factor for the type."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        factor = compute(dtype.numpy.type(1))
        return c.Binary("*", a["x"], c.Number(f"{factor}{dtype.suffix}"))

    return spell


_ANGLES: tuple[tuple[str, Callable[[Any], Any], object, str], ...] = (
    ("degrees", np.degrees, np.rad2deg, "Radians to degrees."),
    ("radians", np.radians, np.deg2rad, "Degrees to radians."),
)


def _declare_angle(name: str, compute: Callable[[Any], Any], also: object, doc: str) -> Intrinsic:
    def body(x: F) -> F:
        return _evaluate(compute, x)

    bindings = (getattr(math, name), compute, also)
    return _declare(f"math.{name}", doc, body, _scaled(compute), bindings=bindings)


ANGLES = tuple(_declare_angle(*row) for row in _ANGLES)

# ---- the greater and the lesser ----------------------------------------------------------------

_IGNORING_NAN: tuple[tuple[str, Callable[[Any, Any], Any], str], ...] = (
    ("fmax", np.fmax, "The greater number, as a float; a NaN gives way."),
    ("fmin", np.fmin, "The lesser number, as a float; a NaN gives way."),
)


def _declare_extreme(name: str, compute: Callable[[Any, Any], Any], doc: str) -> Intrinsic:
    def body(a: F, b: F) -> F:
        return _evaluate(compute, a, b)

    return _declare(f"numpy.{name}", doc, body, library(name), bindings=(compute,))


EXTREMES = tuple(_declare_extreme(*row) for row in _IGNORING_NAN)

# ---- Python's round, of floats -----------------------------------------------------------------


@intrinsic("round", dtypes=FLOATS, cuda=library("llrint"), c=library("llrint"))
def round_to_even(x: F) -> int:
    """The nearest whole number as an int, the even one of two."""
    return int(convert(_evaluate(np.rint, x), Scalar(INT64, weak=True)))


@intrinsic(
    "round_digits",
    dtypes=FLOATS,
    cuda=helper("round_digits"),
    c=helper("round_digits"),
    cuda_helpers=("round_digits",),
    c_helpers=("round_digits",),
)
def round_digits(x: F, digits: int) -> F:
    """``x`` rounded to that many decimal digits, as numpy does it: scale, round, scale back."""
    return _evaluate(lambda number: np.round(number, digits), x)
