"""Round exact fractions to floats with a rounding mode, for the reference interpreter."""

from __future__ import annotations

import fractions
import math
from typing import Any, Literal

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, DType

RoundingMode = Literal["rn", "rz", "rd", "ru"]
ROUNDING_MODES: tuple[RoundingMode, ...] = ("rn", "rz", "rd", "ru")
MODE_TEXT: dict[RoundingMode, str] = {
    "rn": "to nearest, ties to even",
    "rz": "toward 0",
    "rd": "down",
    "ru": "up",
}
# type names in the names of conversions, such as float2int_rd
CUDA_NAMES = {
    FLOAT32: "float",
    FLOAT64: "double",
    INT32: "int",
    UINT32: "uint",
    INT64: "ll",
    UINT64: "ull",
}


def fraction(x: Any) -> Any:
    """Return a number as an exact fraction."""
    return fractions.Fraction(x.item() if isinstance(x, np.generic) else x)


def rounded(exact: Any, dtype: DType, mode: RoundingMode) -> Any:
    """Round a nonzero fraction to a float type."""
    to_float = dtype.numpy.type
    # greater numbers round as this one does
    largest = _overflow_threshold(dtype) * (1 - fractions.Fraction(1, 2**60))
    exact = max(min(exact, largest), -largest)
    try:
        with np.errstate(all="ignore"):
            start = to_float(float(exact))
    except OverflowError:
        start = to_float(math.copysign(math.inf, exact))
    below = start
    while _as_fraction(below, dtype) > exact:
        below = _next_toward(below, -math.inf)
    while _as_fraction(above := _next_toward(below, math.inf), dtype) <= exact:
        below = above
    if _as_fraction(below, dtype) == exact:
        return below
    if mode == "rn":
        return _nearest(exact, below, above, dtype)
    down = mode == "rd" or (mode == "rz" and exact > 0)
    return below if down else above


def _next_toward(x: Any, limit: float) -> Any:
    with np.errstate(all="ignore"):
        return np.nextafter(x, type(x)(limit))


def _as_fraction(x: Any, dtype: DType) -> Any:
    """Return a float as a fraction; infinity is the smallest number that overflows."""
    if math.isfinite(x):
        return fraction(x)
    return _overflow_threshold(dtype) if x > 0 else -_overflow_threshold(dtype)


def _overflow_threshold(dtype: DType) -> Any:
    return fractions.Fraction(2) ** (128 if dtype is FLOAT32 else 1024)


def _nearest(exact: Any, below: Any, above: Any, dtype: DType) -> Any:
    to_below, to_above = exact - _as_fraction(below, dtype), _as_fraction(above, dtype) - exact
    if to_below == to_above:
        return above if _is_odd(below) else below
    return below if to_below < to_above else above


def _is_odd(x: Any) -> bool:
    return bool(np.asarray(x).view(f"u{x.dtype.itemsize}") & 1)


def square_root(exact: Any, dtype: DType, mode: RoundingMode) -> Any:
    """Return the rounded root of a positive fraction, with a sticky bit for inexact roots."""
    # enough bits for at least 200 bits of the root
    shift = 400 + 2 * max(0, exact.denominator.bit_length() - exact.numerator.bit_length())
    shift += shift % 2
    scaled = exact.numerator * 2**shift // exact.denominator
    root = math.isqrt(scaled)
    is_inexact = fractions.Fraction(scaled, 2**shift) != exact or root * root != scaled
    return rounded(fractions.Fraction(2 * root + is_inexact, 2 ** (shift // 2 + 1)), dtype, mode)


def rounded_to_odd(exact: Any) -> Any:
    """Round to float32 with round-to-odd, so that rounding again to fewer bits is correct."""
    below = rounded(exact, FLOAT32, "rz")
    if fraction(below) == exact or _is_odd(below):
        return below
    return _next_toward(below, math.copysign(math.inf, exact))
