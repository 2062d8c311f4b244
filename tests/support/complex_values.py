"""Complex functions at zeros, infinities, NaNs and the ends of the range, against numpy's.

numpy calls the C library, which follows C99's Annex G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# CuPy's names
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "log10": np.log10, "sqrt": np.sqrt,
    "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip
_HYPERBOLIC, _CIRCULAR = ("exp", "sinh", "cosh", "tanh"), ("sin", "cos", "tan")


def special_values(dtype: Any) -> np.ndarray[Any, Any]:
    """Return all pairs of special real numbers as complex numbers."""
    info = np.finfo(dtype)
    sizes = [0, 1, np.inf, info.tiny, info.smallest_subnormal, info.max, 1e-30, 0.5, 3, 30, 1e17]
    # exp overflows between the last two; the real part of atanh(1 + 1e-300j) is finite
    last = (710.2, 1e-300) if info.bits == 64 else (89.2, 1e-40)
    parts = [sign * size for size in (*sizes, *last) for sign in (1, -1)] + [np.nan]
    return np.array([complex(x, y) for x in parts for y in parts]).astype(dtype)


def differences(name: str, z: np.ndarray[Any, Any], result: Any) -> list[Any]:
    """Return the numbers for which a result differs from numpy's, with both results."""
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](z)
    # Annex G leaves signs open where an angle is not finite, and those of a cosine of NaN
    angle = z.imag if name in _HYPERBOLIC else z.real if name in _CIRCULAR else np.zeros(len(z))
    has_sign = np.isfinite(angle) & ~(np.isnan(z) & (name in ("cos", "cosh")))
    is_same = _same(expected.real, result.real, has_sign)
    is_same &= _same(expected.imag, result.imag, has_sign)
    return list(zip(z[~is_same], expected[~is_same], result[~is_same]))


def _same(a: Any, b: Any, has_sign: Any) -> Any:
    info = np.finfo(a.dtype)
    a, b = np.where(has_sign, a, abs(a)), np.where(has_sign, b, abs(b))
    with np.errstate(all="ignore"):
        is_near = abs(a - b) <= 16 * info.eps * abs(a) + 4 * info.smallest_subnormal
    is_equal = (is_near | (a == b)) & (np.signbit(a) == np.signbit(b))
    return is_equal | (np.isnan(a) & np.isnan(b))
