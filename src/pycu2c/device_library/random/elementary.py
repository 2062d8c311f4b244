"""Compute logarithms and sines with identical bits on every machine; math libraries differ.

The functions are polynomials in ``cuda.fma``, so rounding is the same everywhere. Errors are at
most 3 ULP. Coefficients start with the highest degree; they interpolate at Chebyshev nodes. Zeros,
infinities and large arguments are not supported: random numbers do not need them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.kernels.kernel import device


def _as_float32(*numbers: float) -> tuple[Any, ...]:
    return tuple(map(np.float32, numbers))


def _as_float64(*numbers: float) -> tuple[Any, ...]:
    return tuple(map(np.float64, numbers))


# ---- logarithms: of 2**k * (1 + f) ---------------------------------------------------------------

_LOG = _as_float32(
    -0.12125581,
    0.1342575,
    -0.1234619,
    0.1411831,
    -0.1667014,
    0.2000378,
    -0.24999988,
    0.3333332,
    -0.5,
)
# 2 * atanh(s) = 2 * s + s**3 * p(s**2): the coefficients of p, highest power first
_ATANH = _as_float64(
    0.14616449685043406,
    0.15331721600556042,
    0.18182889125261723,
    0.2222221113479508,
    0.28571428625975487,
    0.39999999999899505,
    0.666666666666667,
)
_LN_2, _LN_2_REST = _as_float64(math.log(2), 2.3190468138462996e-17)


@device
def log_float32(x: Any) -> Any:
    """Return the natural logarithm of a positive normal float32."""
    bits = cuda.float_as_int(x)
    exponent = (bits - 0x3F2AAAAB) & -(1 << 23)
    f = cuda.int_as_float(bits - exponent) - np.float32(1.0)  # from -1/3 to 1/3
    k = np.float32(exponent) * np.float32(2.0**-23)
    p = _LOG[0]
    for c in _LOG[1:]:
        p = cuda.fma(p, f, c)
    return cuda.fma(k, np.float32(_LN_2), cuda.fma(p, f * f, f))


@device
def log_float64(x: Any) -> Any:
    """Return the natural logarithm of a positive normal float64."""
    bits = cuda.double_as_longlong(x)
    exponent = (bits - 0x3FE6A09E667F3BCD) & -(1 << 52)
    f = cuda.longlong_as_double(bits - exponent) - np.float64(1.0)  # sqrt(1/2) - 1 to sqrt(2) - 1
    k = np.float64(exponent) * np.float64(2.0**-52)
    s = f / (f + np.float64(2.0))
    z = s * s
    p = _ATANH[0]
    for c in _ATANH[1:]:
        p = cuda.fma(p, z, c)
    twice_atanh = cuda.fma(p, z * s, s + s)
    return cuda.fma(k, _LN_2, cuda.fma(k, _LN_2_REST, twice_atanh))


# ---- the sine of pi * t, with t from -1/2 to 1/2 -------------------------------------------------

_SIN_32 = _as_float32(0.078539714, -0.5987049, 2.550136, -5.1677127)
_PI_32, _PI_32_REST = _as_float32(math.pi, -8.742278e-08)
_SIN_64 = _as_float64(
    7.725743030789876e-07,
    -2.1906201655131958e-05,
    0.00046630087411496363,
    -0.007370430719634586,
    0.08214588659675232,
    -0.599264529320343,
    2.55016403987734,
    -5.16771278004997,
)
_PI_64, _PI_64_REST = _as_float64(math.pi, 1.2246467991473532e-16)


@device
def sin_pi_float32(t: Any) -> Any:
    """Return the sine of pi * t as a float32."""
    z = t * t
    p = _SIN_32[0]
    for c in _SIN_32[1:]:
        p = cuda.fma(p, z, c)
    return cuda.fma(t, _PI_32, t * cuda.fma(p, z, _PI_32_REST))


@device
def sin_pi_float64(t: Any) -> Any:
    """Return the sine of pi * t as a float64."""
    z = t * t
    p = _SIN_64[0]
    for c in _SIN_64[1:]:
        p = cuda.fma(p, z, c)
    return cuda.fma(t, _PI_64, t * cuda.fma(p, z, _PI_64_REST))
