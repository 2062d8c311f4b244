"""CUDA's functions of floats that Python's ``math`` does not have.

Multiples of pi, reciprocals, error functions, Bessel functions, and fast functions of float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import FLOAT32, DType
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.floats import special_reference as reference
from pycu2c.ops.intrinsics.floats.math import FLOATS, in_floats
from pycu2c.ops.intrinsics.floats.special_reference import over_float64
from pycu2c.ops.intrinsics.kinds import F, float32
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, Spelling, declare, intrinsic
from pycu2c.ops.intrinsics.spelling import helper, library, overloaded


def _declare(
    name: str, signature: str, compute: Callable[..., Any], doc: str, **other: Any
) -> Intrinsic:
    """Declare a function of CUDA; on the CPU it is a helper with the same name."""
    if signature.endswith("F"):
        compute = partial(in_floats, compute)
    properties = {"dtypes": FLOATS, "cuda": library(name), "c": helper(name), **other}
    return declare(__name__, f"cuda.{name}", signature, compute, doc, **properties)


# ---- of one number -----------------------------------------------------------------------------


def _round_half_away(x: Any) -> Any:
    """Round as C's ``round`` does: ties away from 0."""
    whole = np.trunc(x)
    is_half_or_more = abs(x - whole) >= 0.5
    return np.copysign(whole + is_half_or_more * np.sign(x), x)


def _exponent(x: Any) -> Any:
    """Return the exponent as C's ``logb`` does."""
    if x == 0 or not np.isfinite(x):
        return -math.inf if x == 0 else abs(x)
    return math.frexp(float(x))[1] - 1


# name, reference, documentation
_UNARY: tuple[tuple[str, Callable[[Any], Any], str], ...] = (
    ("rsqrt", lambda x: 1 / np.sqrt(x), "``1 / sqrt(x)``."),
    ("rcbrt", lambda x: 1 / np.cbrt(x), "``1 / cbrt(x)``."),
    ("sinpi", over_float64(reference.sinpi), "The sine of ``pi * x``."),
    ("cospi", over_float64(reference.cospi), "The cosine of ``pi * x``."),
    ("exp10", lambda x: np.power(type(x)(10), x), "10 to the power ``x``."),
    ("erfinv", over_float64(reference.erfinv), "The inverse of ``erf``."),
    ("erfcinv", over_float64(reference.erfcinv), "The inverse of ``erfc``."),
    ("erfcx", over_float64(reference.erfcx), "``exp(x * x) * erfc(x)``, without overflow."),
    ("normcdf", over_float64(reference.normcdf), "The cumulative normal distribution function."),
    ("normcdfinv", over_float64(reference.normcdfinv), "The inverse of ``normcdf``."),
    ("j0", lambda x: reference.jn(0, float(x)), "The Bessel function of the first kind, order 0."),
    ("j1", lambda x: reference.jn(1, float(x)), "The Bessel function of the first kind, order 1."),
    ("y0", lambda x: reference.yn(0, float(x)), "The Bessel function of the second kind, order 0."),
    ("y1", lambda x: reference.yn(1, float(x)), "The Bessel function of the second kind, order 1."),
    (
        "cyl_bessel_i1",
        over_float64(lambda x: reference.modified_bessel(1, x)),
        "The modified Bessel function of the first kind, order 1.",
    ),
)


_I0 = _declare(
    "cyl_bessel_i0",
    "x: F -> F",
    over_float64(lambda x: reference.modified_bessel(0, x)),
    "The modified Bessel function of the first kind, order 0.",
    bindings=(np.i0,),
)
UNARY = (*(_declare(name, "x: F -> F", compute, doc) for name, compute, doc in _UNARY), _I0)
_declare(
    "round",
    "x: F -> F",
    _round_half_away,
    "The nearest integer as a float, ties away from 0, as in C.",
    c=library("round"),
)
_declare(
    "logb",
    "x: F -> F",
    _exponent,
    "The exponent of ``x`` to base 2, as a float.",
    c=library("logb"),
)


def _inverse(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
    return c.BinaryExpr("/", c.Number("1"), a["x"])


_declare("rcp", "x: F -> F", lambda x: 1 / x, "``1 / x``.", cuda=_inverse, c=_inverse)


def _saturated(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    return (
        c.CallExpr("__saturatef", (a["x"],)) if dtype is FLOAT32 else helper("saturate")(a, dtype)
    )


_declare(
    "saturate",
    "x: F -> F",
    lambda x: min(max(x, 0), 1) if x > 0 else 0,
    "``x`` clamped to the range from 0 to 1; 0 for NaN.",
    cuda=_saturated,
)


@intrinsic("cuda.ilogb", dtypes=FLOATS, cuda=library("ilogb"), c=helper("ilogb"))
def _ilogb(x: F) -> int:
    """The exponent of ``x`` to base 2, as an int; the minimum of int32 for 0 and NaN, its
    maximum for infinity."""
    value = float(x)
    if value == 0 or not math.isfinite(value):
        return 2**31 - 1 if math.isinf(value) else -(2**31)
    return math.frexp(value)[1] - 1


@intrinsic("cuda.llround", dtypes=FLOATS, spelling=library("llround"))
def _llround(x: F) -> int:
    """Round to the nearest integer, ties away from 0, as in C; return an int."""
    return int(in_floats(_round_half_away, x)) if math.isfinite(float(x)) else 0


# ---- of several --------------------------------------------------------------------------------


def _norm(*numbers: Any) -> Any:
    return math.hypot(*map(float, numbers))


def _reciprocal_norm(*numbers: Any) -> Any:
    return 1 / np.float64(_norm(*numbers))


def _fdim(a: Any, b: Any) -> Any:
    return a - b if a > b or a != a or b != b else 0


_MULTI_ARGUMENT: tuple[tuple[str, Callable[..., Any], int, str], ...] = (
    ("fdim", _fdim, 2, "``a - b`` if that is positive, else 0."),
    ("rhypot", _reciprocal_norm, 2, "``1 / sqrt(a*a + b*b)`` without overflow."),
    ("norm3d", _norm, 3, "``sqrt(a*a + b*b + c*c)`` without overflow."),
    ("norm4d", _norm, 4, "``sqrt(a*a + b*b + c*c + d*d)`` without overflow."),
    ("rnorm3d", _reciprocal_norm, 3, "``1 / sqrt(a*a + b*b + c*c)`` without overflow."),
    ("rnorm4d", _reciprocal_norm, 4, "``1 / sqrt(a*a + b*b + c*c + d*d)`` without overflow."),
)


MULTI_ARGUMENT = tuple(
    _declare(
        name,
        f"{', '.join(f'{parameter}: F' for parameter in 'abcd'[:count])} -> F",
        compute,
        doc,
        c=library(name) if name == "fdim" else helper(name),
    )
    for name, compute, count, doc in _MULTI_ARGUMENT
)


@intrinsic("cuda.powi", dtypes=FLOATS, spelling=helper("powi"))
def POWI(x: F, n: int) -> F:
    """Return ``x`` to an integer power."""
    return in_floats(lambda base: np.power(base, type(base)(int(n))), x)


def _bessel(compute: Callable[[int, float], float], n: int, x: Any) -> Any:
    return in_floats(lambda value: compute(int(n), float(value)), x)


BESSEL = tuple(
    declare(
        __name__,
        f"cuda.{name}",
        "n: int, x: F -> F",
        partial(_bessel, compute),
        f"The Bessel function of the {kind} kind, order ``n``.",
        dtypes=FLOATS,
        spelling=helper(name),
    )
    for name, compute, kind in (("jn", reference.jn, "first"), ("yn", reference.yn, "second"))
)

# ---- the parts of results that are tuples, as of frexp -----------------------------------------


@intrinsic("cuda.modf.fraction", dtypes=FLOATS, spelling=helper("fraction"))
def _fraction(x: F) -> F:
    """Return the fractional part, with the sign of ``x``."""
    return in_floats(lambda v: np.copysign(0 if np.isinf(v) else v - np.trunc(v), v), x)


@intrinsic("cuda.frexp.mantissa", dtypes=FLOATS, spelling=helper("mantissa"))
def _mantissa(x: F) -> F:
    """Return the mantissa that ``frexp`` returns."""
    return in_floats(lambda v: np.frexp(v)[0], x)


@intrinsic("cuda.frexp.exponent", dtypes=FLOATS, spelling=helper("exponent"))
def _power_of_two(x: F) -> int:
    """Return the exponent that ``frexp`` returns."""
    return int(np.frexp(float(x))[1]) if math.isfinite(float(x)) else 0


@intrinsic("cuda.remquo.quotient", dtypes=FLOATS, spelling=helper("quotient"))
def _quotient(a: F, b: F) -> int:
    """Return the lowest 3 bits of ``a / b``, rounded to an integer, with its sign."""
    x, y = float(a), float(b)
    if not math.isfinite(x) or math.isnan(y) or y == 0 or math.isinf(y):
        return 0
    remainder = math.remainder(x, y)
    difference = reference.ratio(x) - reference.ratio(remainder)
    quotient: int = round(difference / reference.ratio(y))
    return (abs(quotient) & 7) * (-1 if quotient < 0 else 1)


# ---- fast, of float32 --------------------------------------------------------------------------

# name, CUDA's, the intrinsic that computes it on the CPU, meaning
_FAST = (
    ("fast_sinf", "__sinf", "math.sin", "The sine"),
    ("fast_cosf", "__cosf", "math.cos", "The cosine"),
    ("fast_tanf", "__tanf", "math.tan", "The tangent"),
    ("fast_expf", "__expf", "math.exp", "e to the power ``x``"),
    ("fast_exp10f", "__exp10f", "cuda.exp10", "10 to the power ``x``"),
    ("fast_logf", "__logf", "math.log", "The natural logarithm"),
    ("fast_log2f", "__log2f", "math.log2", "The logarithm to base 2"),
    ("fast_log10f", "__log10f", "math.log10", "The logarithm to base 10"),
)


def _in_float32(function: Intrinsic, x: Any) -> Any:
    return function.reference(np.float32(x))


def _as_float32(spell: Spelling | None) -> Spelling:
    assert spell is not None
    return lambda a, _: spell(a, FLOAT32)


FAST = tuple(
    declare(
        __name__,
        f"cuda.{name}",
        "x: float32 -> float32",
        partial(_in_float32, REGISTRY[on_cpu]),
        f"{doc}, fast and less exact on a GPU.",
        cuda=overloaded(cuda),
        c=_as_float32(REGISTRY[on_cpu].c),
    )
    for name, cuda, on_cpu, doc in _FAST
)


@intrinsic("cuda.fast_powf", cuda=overloaded("__powf"), c=overloaded("powf"))
def _fast_pow(a: float32, b: float32) -> float32:
    """Return ``a`` to the power ``b`` for a positive ``a``; faster and less exact on a GPU."""
    return REGISTRY["math.pow"].reference(np.float32(a), np.float32(b))


def _division(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
    return c.BinaryExpr("/", a["a"], a["b"])


@intrinsic("cuda.fast_fdividef", cuda=overloaded("__fdividef"), c=_division)
def _fast_divide(a: float32, b: float32) -> float32:
    """Return ``a / b``; faster and less exact on a GPU."""
    with np.errstate(all="ignore"):
        return np.float32(a) / np.float32(b)
