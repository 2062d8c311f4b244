"""Reference implementations of CUDA's special functions, by other methods than the C helpers."""

from __future__ import annotations

import fractions
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def over_float64(function: Callable[[float], float]) -> Callable[[Any], float]:
    """Return a function that computes in float64 and propagates NaN."""

    def compute(x: Any) -> float:
        value = float(x)
        return value if math.isnan(value) else function(value)

    return compute


def ratio(x: float) -> Any:
    """Return a float as an exact fraction."""
    return fractions.Fraction(x)


# ---- sines of multiples of pi ------------------------------------------------------------------


def sinpi(x: float) -> float:
    if math.isinf(x):
        return math.nan
    part = math.remainder(x, 2)
    if abs(part) > 0.5:
        part = math.copysign(1 - abs(part), part)
    return math.sin(math.pi * part) if abs(part) < 0.25 else _sinpi_by_cosine(part)


def _sinpi_by_cosine(part: float) -> float:
    return math.copysign(math.cos(math.pi * (0.5 - abs(part))), part)


def cospi(x: float) -> float:
    if math.isinf(x):
        return math.nan
    part = abs(math.remainder(x, 2))
    if part > 0.5:
        return -cospi(1 - part)
    return math.cos(math.pi * part) if part < 0.25 else math.sin(math.pi * (0.5 - part))


# ---- the error function's relatives ------------------------------------------------------------


def erfcx(x: float) -> float:
    """Compute erfcx; uses a continued fraction where the exponential would overflow."""
    if x > 25:
        fraction = x
        for n in range(60, 0, -1):
            fraction = x + n / 2 / fraction
        return 1 / (fraction * math.sqrt(math.pi))
    if x < -26.7:
        return math.inf
    rest = float(ratio(x) ** 2 - ratio(x * x))
    return math.exp(x * x) * (1 + rest) * math.erfc(x)


def erfcinv(q: float) -> float:
    """Compute the inverse of erfc by bisection."""
    if not 0 < q < 2:
        return math.inf if q == 0 else -math.inf if q == 2 else math.nan
    if q == 1:
        return 0.0
    low, high = (0.0, 28.0) if q < 1 else (-6.0, 0.0)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if math.erfc(middle) > q else (low, middle)
    return low


def erfinv(y: float) -> float:
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if abs(y) > 0.5:
        return math.copysign(erfcinv(1 - abs(y)), y)
    low, high, size = 0.0, 0.5, abs(y)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if math.erf(middle) < size else (low, middle)
    return math.copysign(high if math.erf(low) < size else low, y)


# sqrt(1 / 2), and its rounding error
_SQRT_HALF, _SQRT_HALF_ERROR = 0.7071067811865476, -4.833646656726457e-17


def normcdf(x: float) -> float:
    if abs(x) > 39:
        return 0.0 if x < 0 else 1.0
    scaled = -x * _SQRT_HALF
    rest = float(ratio(-x) * (ratio(_SQRT_HALF) + ratio(_SQRT_HALF_ERROR)) - ratio(scaled))
    return math.erfc(scaled) / 2 - rest * math.exp(-scaled * scaled) / math.sqrt(math.pi)


def normcdfinv(p: float) -> float:
    return -math.sqrt(2) * erfcinv(2 * p)


# ---- Bessel functions --------------------------------------------------------------------------

_ASYMPTOTIC_MINIMUM = 100.0  # greater arguments use expansions in 1 / x
_PANELS = 16  # of the quadrature


def jn(n: int, x: float) -> float:
    if n < 0 or math.isnan(x):
        return math.nan
    if abs(x) < 1e-8:  # the first term of the series
        return (x / 2) ** n / math.factorial(n) if n < 160 else 0.0
    sign = -1.0 if x < 0 and n % 2 else 1.0
    size = abs(x)
    if math.isinf(size):
        return 0.0
    if size > _ASYMPTOTIC_MINIMUM:
        return sign * _asymptotic(n, size)[0]
    angle, weight = _quadrature()
    return sign * float(weight @ np.cos(n * angle - size * np.sin(angle))) / math.pi


def yn(n: int, x: float) -> float:
    if n < 0 or x < 0 or math.isnan(x):
        return math.nan
    if x == 0 or math.isinf(x):
        return -math.inf if x == 0 else 0.0
    if x > _ASYMPTOTIC_MINIMUM:
        return _asymptotic(n, x)[1]
    if x < 1e-9:  # the first term of the series
        euler = 0.5772156649015329
        first = 2 / math.pi * (math.log(x / 2) + euler)
        return first if n == 0 else -_negated_leading_term(n, x)
    angle, weight = _quadrature()
    near = float(weight @ np.sin(x * np.sin(angle) - n * angle)) / math.pi
    end = math.asinh(800 / x)
    t, dt = (angle / math.pi) * end, weight / math.pi * end
    decay = x * np.sinh(t)
    rest = np.exp(n * t - decay) + (-1) ** n * np.exp(-n * t - decay)
    return near - float(dt @ rest) / math.pi


def _negated_leading_term(n: int, x: float) -> float:
    try:
        return math.factorial(min(n, 200) - 1) / math.pi * (2 / x) ** n
    except OverflowError:
        return math.inf


@functools.cache
def _quadrature() -> tuple[Any, Any]:
    """Return the points and weights of composite Gauss quadrature between 0 and pi."""
    points, weights = np.polynomial.legendre.leggauss(24)
    width = math.pi / _PANELS
    starts = np.arange(_PANELS)[:, None] * width
    return (starts + (points + 1) * width / 2).ravel(), np.tile(weights * width / 2, _PANELS)


def _asymptotic(n: int, x: float) -> tuple[float, float]:
    """Compute J and Y by Hankel's asymptotic expansion."""
    even, odd, term, k = 1.0, 0.0, 1.0, 0
    while k < 40 and abs(term) > 1e-18:
        k += 1
        term *= (4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
        part = term * (-1) ** (k // 2)
        even, odd = (even, odd + part) if k % 2 else (even + part, odd)
    phase = (n / 2 + 0.25) * math.pi
    cosine = math.cos(x) * math.cos(phase) + math.sin(x) * math.sin(phase)
    sine = math.sin(x) * math.cos(phase) - math.cos(x) * math.sin(phase)
    size = math.sqrt(2 / math.pi) / math.sqrt(x)
    return size * (even * cosine - odd * sine), size * (even * sine + odd * cosine)


def modified_bessel(n: int, x: float) -> float:
    """Compute I of order 0 or 1 by the trapezoidal rule, which is accurate for this period."""
    size = abs(x)
    if size > 720:
        return math.copysign(math.inf, x) if n else math.inf
    angle = (np.arange(1024) + 0.5) * (math.pi / 1024)
    weight = size * np.sin(angle) ** 2 if n else 1.0
    mean = float(np.mean(np.exp(size * (np.cos(angle) - 1)) * weight))
    with np.errstate(over="ignore"):
        value = float(np.exp(size / 2) * mean * np.exp(size / 2))
    return math.copysign(value, x) if n else value
