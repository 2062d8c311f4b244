"""Functions of Python's ``math`` and of NumPy on one or two floats, as tables.

A strong float keeps its type; ints and Python floats return a Python float. Spellings receive the
type of the computation, also if the result is an int or a bool.
"""

from __future__ import annotations

import fractions
import math
from collections.abc import Callable, Mapping
from functools import partial, reduce
from itertools import chain
from typing import Any

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, INT64, DType
from pycu2c.base.types import WEAK_FLOAT, WEAK_INT, Scalar, promote
from pycu2c.base.values import Number, convert, scalar_of
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import F
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, Spelling, declare, intrinsic
from pycu2c.ops.intrinsics.spelling import helper, library, overloaded

FLOATS = (FLOAT32, FLOAT64)


def type_of(value: Number) -> Scalar:
    scalar = scalar_of(value)
    assert scalar is not None
    return scalar


def floating_type(*numbers: Number) -> Scalar:
    """Return the type of kind ``F``: the joined type if it is floating, else Python's float."""
    common = reduce(promote, (t for t in map(scalar_of, numbers) if t is not None))
    return common if common.dtype.is_float else WEAK_FLOAT


def in_floats(compute: Callable[..., Any], *numbers: Number) -> Any:
    """Apply ``compute`` in the floating type of the numbers, without warnings."""
    scalar = floating_type(*numbers)
    with np.errstate(all="ignore"):
        return convert(compute(*(convert(n, scalar) for n in numbers)), scalar)


def compute_in_type(compute: Callable[..., Any], *numbers: Any) -> Any:
    """Apply ``compute`` to numbers of one type, which is also the type of the result.

    Halves are computed as float32, as in kernels; the sign of -0.0 differs for bfloat16 in NumPy.
    """
    own = type_of(numbers[0])
    dtype = FLOAT32 if own.dtype.is_half else own.dtype
    with np.errstate(all="ignore"):
        return convert(compute(*(dtype.numpy.type(n) for n in numbers)), own)


def _declare(
    name: str, signature: str, compute: Callable[..., Any], doc: str, **properties: Any
) -> Intrinsic:
    """Declare a function; ``compute`` takes floats if the result is one."""
    if signature.endswith("F"):
        compute = partial(in_floats, compute)
    return declare(__name__, name, signature, compute, doc, dtypes=FLOATS, **properties)


# ---- functions that NumPy lacks: Python's, with C's result where Python raises ---------------


def _without_exceptions(function: Callable[[float], float], pole: float, overflow: float) -> Any:
    """Return ``function`` with ``pole`` for ValueError and ``overflow`` for OverflowError."""

    def compute(x: Any) -> float:
        try:
            return function(float(x))
        except ValueError:
            return pole
        except OverflowError:
            return overflow

    return compute


def _remainder(a: Any, b: Any) -> float:
    try:
        return math.remainder(float(a), float(b))
    except ValueError:
        return math.nan


def _gamma(x: Any) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return float(_without_exceptions(math.gamma, math.nan, math.inf)(x))


# ---- floats to float -----------------------------------------------------------------------

# name in Python, name in C, reference, documentation
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
        _without_exceptions(math.lgamma, math.inf, math.inf),
        "The logarithm of the absolute value of the gamma function.",
    ),
)


# functions that are helpers on the CPU, by dtype: see codegen/vector_math.py
_CPU_HELPER_DTYPES = {
    "exp": (FLOAT32,),
    "log": (FLOAT32,),
    "cbrt": (FLOAT64,),
    "hypot": (FLOAT32, FLOAT64),
}


def _cpu_spelling(stem: str) -> Spelling:
    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        has_helper = dtype in _CPU_HELPER_DTYPES.get(stem, ())
        return (helper if has_helper else library)(stem)(a, dtype)

    return spell


_BINARY: tuple[tuple[str, str, Callable[[Any, Any], Any], str], ...] = (
    ("pow", "pow", np.power, "``a`` to the power ``b``, as floats."),
    ("atan2", "atan2", np.arctan2, "The angle of the point (``b``, ``a``), in radians."),
    ("hypot", "hypot", np.hypot, "``sqrt(a * a + b * b)`` without overflow."),
    ("fmod", "fmod", np.fmod, "The remainder with the sign of ``a``, as in C."),
    ("copysign", "copysign", np.copysign, "``a`` with the sign of ``b``."),
    ("nextafter", "nextafter", np.nextafter, "The next number from ``a`` towards ``b``."),
    ("remainder", "remainder", _remainder, "``a - b * n`` for the whole ``n`` nearest ``a / b``."),
)
_INTEGRAL_IN_NUMPY = (np.power, np.fmod)  # ufuncs that return an int for two ints

for _signature, _functions in (("x: F -> F", _UNARY), ("a: F, b: F -> F", _BINARY)):
    for _name, _stem, _compute, _doc in _functions:
        _is_same = isinstance(_compute, np.ufunc) and _compute not in _INTEGRAL_IN_NUMPY
        _declare(
            f"math.{_name}",
            _signature,
            _compute,
            _doc,
            cuda=library(_stem),
            c=_cpu_spelling(_stem),
            bindings=(getattr(math, _name), *((_compute,) if _is_same else ())),
        )

# ---- rounding: math's give an int, numpy's a float ------------------------------------------

_ROUNDING: tuple[tuple[str, Callable[[Any], Any], object, str], ...] = (
    ("floor", np.floor, math.floor, "The largest integer not above ``x``"),
    ("ceil", np.ceil, math.ceil, "The smallest integer not below ``x``"),
    ("trunc", np.trunc, math.trunc, "``x`` without its fraction"),
    ("rint", np.rint, None, "The nearest integer, ties to even"),
)


def _cast_to_int(stem: str, integer: Callable[[DType], str]) -> Spelling:
    """Return the spelling ``(long long)floorf(x)``."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CastExpr(c.NamedType(integer(INT64)), library(stem)(a, dtype))

    return spell


def _declare_rounding(
    name: str, compute: Callable[[Any], Any], python: object, doc: str
) -> tuple[Intrinsic, ...]:
    rounding_to_float = _declare(
        f"numpy.{name}",
        "x: F -> F",
        compute,
        f"{doc}, as a float.",
        spelling=library(name),
        bindings=(compute,),
    )
    if python is None:
        return (rounding_to_float,)
    rounding_to_int = _declare(
        f"math.{name}",
        "x: F -> int",
        partial(_round_to_int, compute),
        f"{doc}, as an int.",
        cuda=_cast_to_int(name, lambda dtype: dtype.cuda),
        c=_cast_to_int(name, lambda dtype: dtype.c),
        bindings=(python,),
    )
    return rounding_to_float, rounding_to_int


def _round_to_int(compute: Callable[[Any], Any], x: Any) -> int:
    return int(convert(in_floats(compute, x), WEAK_INT))


_ROUNDING_FUNCTIONS = tuple(_declare_rounding(*entry) for entry in _ROUNDING)
ROUNDING = tuple(chain.from_iterable(_ROUNDING_FUNCTIONS))
# from a function that gives an int to the one that gives a float
ROUNDING_TO_FLOAT = {f[1]: f[0] for f in _ROUNDING_FUNCTIONS if len(f) > 1}
# an integer argument is returned unchanged; np.rint converts it to float
IDENTITY_ON_INTEGERS = tuple(f for f in ROUNDING if f.name != "numpy.rint")

# ---- predicates ----------------------------------------------------------------------------

_PREDICATES: tuple[tuple[str, Callable[[Any], Any], object, str], ...] = (
    ("isnan", np.isnan, math.isnan, "Whether ``x`` is not a number."),
    ("isinf", np.isinf, math.isinf, "Whether ``x`` is an infinity."),
    ("isfinite", np.isfinite, math.isfinite, "Whether ``x`` is neither infinite nor NaN."),
)


def _nonzero(name: str) -> Spelling:
    """Return a comparison of ``isinf`` with 0, because it may return -1 in C."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.BinaryExpr("!=", overloaded(name)(a, dtype), c.Number("0"))

    return spell


def _holds(compute: Callable[[Any], Any], x: Any) -> bool:
    return bool(compute(convert(x, floating_type(x))))


for _name, _compute, _python, _doc in _PREDICATES:
    _declare(
        f"math.{_name}",
        "x: F -> bool",
        partial(_holds, _compute),
        _doc,
        cuda=overloaded(_name),
        c=_nonzero(_name) if _compute is np.isinf else overloaded(_name),
        bindings=(_python, _compute),
    )

# ---- angles: a multiplication by a constant --------------------------------------------------


def _scaled(compute: Callable[[Any], Any]) -> Spelling:
    """Return the spelling ``x * 57.29578f``, with NumPy's factor for the type."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        factor = compute(dtype.numpy.type(1))
        return c.BinaryExpr("*", a["x"], c.Number(f"{factor}{dtype.suffix}"))

    return spell


_ANGLES: tuple[tuple[str, Callable[[Any], Any], object, str], ...] = (
    ("degrees", np.degrees, np.rad2deg, "Radians to degrees."),
    ("radians", np.radians, np.deg2rad, "Degrees to radians."),
)


for _name, _compute, _alias, _doc in _ANGLES:
    _bindings = (getattr(math, _name), _compute, _alias)
    _declare(
        f"math.{_name}", "x: F -> F", _compute, _doc, spelling=_scaled(_compute), bindings=_bindings
    )

# ---- Python's round, of floats -----------------------------------------------------------------


@intrinsic("round", dtypes=FLOATS, spelling=library("llrint"))
def round_to_even(x: F) -> int:
    """Round to the nearest integer, ties to even; return an int."""
    return _round_to_int(np.rint, x)


# ---- with more arguments -----------------------------------------------------------------------


def _quotient_of_logarithms(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    logarithm = library("log")
    return c.BinaryExpr("/", *(logarithm({name: a[name]}, dtype) for name in ("x", "base")))


@intrinsic("math.log_base", dtypes=FLOATS, spelling=_quotient_of_logarithms)
def log_base(x: F, base: F) -> F:
    """Return the logarithm to a base: ``math.log(x, base)``."""
    return in_floats(lambda number, to: np.log(number) / np.log(to), x, base)


@intrinsic("math.ldexp", dtypes=FLOATS, spelling=helper("ldexp"), bindings=(math.ldexp, np.ldexp))
def ldexp(x: F, exponent: int) -> F:
    """Return ``x * 2**exponent``, rounded once."""
    return in_floats(lambda number: np.ldexp(number, max(min(int(exponent), 5000), -5000)), x)


def variant_for_arguments(function: Intrinsic, count: int) -> Intrinsic:
    """Return the logarithm to a base for a call with two arguments, else the intrinsic itself."""
    if function.name in _LOGARITHMS and count == 2:
        return REGISTRY[f"{function.name}_base"]
    return function


_LOGARITHMS = ("math.log", "complex.log")


# ---- a product and a sum, rounded once ---------------------------------------------------------


def _fused(a: Any, b: Any, term: Any) -> Any:
    """Compute exactly, then round to odd in float64, so that rounding to float32 is correct."""
    unrounded = a * b + term
    if not all(map(math.isfinite, (a, b, term))):
        return unrounded
    first, second, third = (fractions.Fraction(float(n)) for n in (a, b, term))
    exact = first * second + third
    if exact == 0:
        return unrounded
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if isinstance(a, np.float32) and fractions.Fraction(nearest) != exact and not _is_odd(nearest):
        towards = math.inf if exact > fractions.Fraction(nearest) else -math.inf
        return math.nextafter(nearest, towards)
    return nearest


def _is_odd(x: float) -> bool:
    return bool(np.float64(x).view(np.int64) & 1)


@intrinsic(
    "cuda.fma",
    dtypes=FLOATS,
    spelling=library("fma"),
    bindings=tuple(filter(None, [getattr(math, "fma", None)])),  # in Python 3.13 and later
)
def fma(a: F, b: F, c: F) -> F:
    """Return ``a * b + c``, rounded once."""
    return in_floats(_fused, a, b, c)
