"""NumPy's ufuncs on numbers: those that keep the type of the operands, and special forms.

A function has the result type of NumPy. Where NumPy converts a small integer to a float of 16 or 32
bits, kernels compute with Python's float. The front end expands the special forms to operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import FLOAT64, DType, DTypeKind
from pycu2c.base.types import Scalar, promote
from pycu2c.base.values import convert
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.builtins import NUMBERS
from pycu2c.ops.intrinsics.floats.math import FLOATS, compute_in_type, in_floats, type_of
from pycu2c.ops.intrinsics.kinds import F, R, T, number
from pycu2c.ops.intrinsics.registry import REGISTRY, Effect, Intrinsic, Spelling, declare, intrinsic
from pycu2c.ops.intrinsics.spelling import by_kind, helper, library, overloaded
from pycu2c.ops.operators import DIV, EQ, MUL, POW

# ---- of all numbers --------------------------------------------------------------------------


def _extremum_spellings(name: str) -> tuple[Spelling, Spelling]:
    floats, stem = library(name), name[1:]
    return (
        by_kind(floats=floats, integers=overloaded(stem)),
        by_kind(floats=floats, integers=helper(stem)),
    )


_REMAINDER = by_kind(floats=library("fmod"), integers=helper("fmod"))

for _name, _compute, _doc, (_cuda, _c) in (
    (
        "fmax",
        np.fmax,
        "The greater; of a NaN and a number, the number.",
        _extremum_spellings("fmax"),
    ),
    (
        "fmin",
        np.fmin,
        "The lesser; of a NaN and a number, the number.",
        _extremum_spellings("fmin"),
    ),
    (
        "fmod",
        np.fmod,
        "The remainder with the sign of ``a``, as in C; of integers, 0 where ``b`` is 0.",
        (_REMAINDER, _REMAINDER),
    ),
):
    declare(
        __name__,
        f"numpy.{_name}",
        "a: T, b: T -> T",
        partial(compute_in_type, _compute),
        _doc,
        dtypes=NUMBERS,
        cuda=_cuda,
        c=_c,
        bindings=(_compute,),
    )


@intrinsic("numpy.sign", dtypes=NUMBERS, spelling=helper("sign"), bindings=(np.sign,))
def sign(x: T) -> T:
    """Return -1, 0 or 1; NaN for NaN."""
    return compute_in_type(np.sign, x)


# ---- of floats -------------------------------------------------------------------------------

for _name, _function, _doc in (
    ("heaviside", np.heaviside, "0 below 0, 1 above; ``b`` where ``a`` is 0."),
    ("logaddexp", np.logaddexp, "``log(exp(a) + exp(b))`` without overflow."),
    ("logaddexp2", np.logaddexp2, "``log2(2**a + 2**b)`` without overflow."),
):
    declare(
        __name__,
        f"numpy.{_name}",
        "a: F, b: F -> F",
        partial(in_floats, _function),
        _doc,
        dtypes=FLOATS,
        spelling=helper(_name),
        bindings=(_function,),
    )


@intrinsic("numpy.sinc", dtypes=FLOATS, spelling=helper("sinc"), bindings=(np.sinc,))
def sinc(x: F) -> F:
    """Return ``sin(pi * x) / (pi * x)``; 1 at 0."""
    return in_floats(np.sinc, x)


def _sign_bit(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
    """Compare ``signbit`` with 0, because it returns any nonzero number in C."""
    return c.BinaryExpr("!=", c.CallExpr("signbit", (a["x"],)), c.Number("0"))


@intrinsic("numpy.signbit", dtypes=FLOATS, spelling=_sign_bit, bindings=(np.signbit,))
def signbit(x: F) -> bool:
    """Return whether the sign bit of ``x`` is set."""
    return bool(in_floats(np.signbit, x))


# ---- what the frontend writes out as operators -----------------------------------------------


def _form(name: str, *bindings: object) -> Callable[[Callable[..., Any]], Intrinsic]:
    return intrinsic(f"numpy.{name}", effect=Effect.FORM, bindings=bindings)


@_form("where", np.where)
def where(condition: number, x: number, y: number) -> T:
    """Return ``x if condition else y``; both are evaluated."""
    return convert(x if condition else y, promote(type_of(x), type_of(y)))


@intrinsic("cuda.selp", effect=Effect.FORM)
def selp(a: number, b: number, c: number) -> T:
    """Return ``b if a else c``; both are evaluated."""
    return where.reference(a, b, c)


@_form("clip", np.clip)
def clip(a: number, a_min: number, a_max: number) -> T:
    """Clamp ``a`` to an interval; NaN if an argument is NaN."""
    numbers: list[Any] = [a, a_min, a_max]
    common = promote(promote(*map(type_of, numbers[:2])), type_of(a_max))
    value, low, high = (convert(n, common) for n in numbers)
    at_least_low = REGISTRY["numpy.maximum"].reference(value, low)
    return REGISTRY["numpy.minimum"].reference(at_least_low, high)


@_form("square", np.square)
def square(x: number) -> T:
    """Return ``x * x``."""
    return MUL.reference(x, x)


@_form("reciprocal", np.reciprocal)
def reciprocal(x: number) -> T:
    """Return ``1 / x``; of integers, truncated: 0 for all but 1 and -1."""
    if not type_of(x).dtype.is_integer:
        return DIV.reference(1, x)
    own = type_of(x)
    is_minus_one = own.dtype.is_signed and EQ.reference(x, -1)
    return convert(-1 if is_minus_one else int(EQ.reference(x, 1)), own)


@_form("float_power", np.float_power)
def float_power(a: number, b: number) -> T:
    """Return ``a`` to the power ``b``, in float64."""
    wide = float_power_type(type_of(a), type_of(b))
    return POW.reference(convert(a, wide), convert(b, wide))


def float_power_type(a: Scalar, b: Scalar) -> Scalar:
    """Return the type that ``float_power`` computes in."""
    common = promote(a, b)
    return promote(common, Scalar(FLOAT64, weak=common.weak))


@_form("logical_and", np.logical_and)
def logical_and(a: number, b: number) -> bool:
    """Return whether both are nonzero; both are evaluated."""
    return bool(a) and bool(b)


@_form("logical_or", np.logical_or)
def logical_or(a: number, b: number) -> bool:
    """Return whether either is nonzero; both are evaluated."""
    return bool(a) or bool(b)


@_form("logical_xor", np.logical_xor)
def logical_xor(a: number, b: number) -> bool:
    """Return whether exactly one is nonzero."""
    return bool(a) is not bool(b)


@_form("real", np.real)
def real(x: number) -> R:
    """Return the real part; of a real number, the number."""
    return convert(x.real, Scalar(type_of(x).dtype.real, type_of(x).weak))


@_form("imag", np.imag)
def imag(x: number) -> R:
    """Return the imaginary part; of a real number, 0."""
    return convert(x.imag, Scalar(type_of(x).dtype.real, type_of(x).weak))


@_form("round", np.round, np.around)
def round_(a: number, decimals: number = 0) -> T:
    """Round to that many decimal digits, ties to even, in the type of ``a``."""
    whole = int(a) if type_of(a).dtype.kind is DTypeKind.BOOL else a
    return REGISTRY["round_digits"].reference(whole, decimals)
