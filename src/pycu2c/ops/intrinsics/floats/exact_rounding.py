"""Round exact fractions to floats with a rounding mode, for the reference interpreter."""

from __future__ import annotations

import fractions
import math
from typing import Any, Literal

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, DType

Mode = Literal["rn", "rz", "rd", "ru"]
MODES: tuple[Mode, ...] = ("rn", "rz", "rd", "ru")
MODE_TEXT: dict[Mode, str] = {
    "rn": "to nearest, ties to even",
    "rz": "toward 0",
    "rd": "down",
    "ru": "up",
}
# as conversions are named: float2int_rd
CUDA_NAMES = {
    FLOAT32: "float",
    FLOAT64: "double",
    INT32: "int",
    UINT32: "uint",
    INT64: "ll",
    UINT64: "ull",
}


def fraction(x: Any) -> Any:
    return fractions.Fraction(x.item() if isinstance(x, np.generic) else x)


def rounded(exact: Any, dtype: DType, mode: Mode) -> Any:
    """Round a nonzero fraction to a float type."""
    make = dtype.numpy.type
    most = _limit(dtype) * (1 - fractions.Fraction(1, 2**60))  # what is beyond is no other
    exact = max(min(exact, most), -most)
    try:
        with np.errstate(all="ignore"):
            start = make(float(exact))
    except OverflowError:
        start = make(math.copysign(math.inf, exact))
    below = start
    while _place(below, dtype) > exact:
        below = _next(below, -math.inf)
    while _place(above := _next(below, math.inf), dtype) <= exact:
        below = above
    if _place(below, dtype) == exact:
        return below
    if mode == "rn":
        return _nearest(exact, below, above, dtype)
    down = mode == "rd" or (mode == "rz" and exact > 0)
    return below if down else above


def _next(x: Any, to: float) -> Any:
    with np.errstate(all="ignore"):
        return np.nextafter(x, type(x)(to))


def _place(x: Any, dtype: DType) -> Any:
    """Return a float as a fraction; infinity is the smallest number that overflows."""
    if math.isfinite(x):
        return fraction(x)
    return _limit(dtype) if x > 0 else -_limit(dtype)


def _limit(dtype: DType) -> Any:
    return fractions.Fraction(2) ** (128 if dtype is FLOAT32 else 1024)


def _nearest(exact: Any, below: Any, above: Any, dtype: DType) -> Any:
    to_below, to_above = exact - _place(below, dtype), _place(above, dtype) - exact
    if to_below == to_above:
        return above if _is_odd(below) else below
    return below if to_below < to_above else above


def _is_odd(x: Any) -> bool:
    return bool(np.asarray(x).view(f"u{x.dtype.itemsize}") & 1)


def square_root(exact: Any, dtype: DType, mode: Mode) -> Any:
    """Return the rounded root of a positive fraction, with a sticky bit for inexact roots."""
    shift = 400 + 2 * max(0, exact.denominator.bit_length() - exact.numerator.bit_length())
    shift += shift % 2
    scaled = exact.numerator * 2**shift // exact.denominator
    root = math.isqrt(scaled)
    rest = fractions.Fraction(scaled, 2**shift) != exact or root * root != scaled
    return rounded(fractions.Fraction(2 * root + rest, 2 ** (shift // 2 + 1)), dtype, mode)


def rounded_to_odd(exact: Any) -> Any:
    """Round to float32 with round-to-odd, so that rounding again to fewer bits is correct."""
    below = rounded(exact, FLOAT32, "rz")
    if fraction(below) == exact or _is_odd(below):
        return below
    return _next(below, math.copysign(math.inf, exact))
