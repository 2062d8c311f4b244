"""Logarithms, sines and cosines with the same bits on every machine: libraries differ in the last.

They are polynomials here, written with ``cuda.fma``, so that each operation is rounded in one way
wherever it is done, and within two units in the last place of the exact ones. Coefficients begin
with the highest; they are those of polynomials that meet the functions at Chebyshev's points. Knows
nothing of random numbers but what they need: no zeros, no infinities, no large angles.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.kernel import device


def _single(*numbers: float) -> tuple[Any, ...]:
    return tuple(map(np.float32, numbers))


def _double(*numbers: float) -> tuple[Any, ...]:
    return tuple(map(np.float64, numbers))


# ---- logarithms: of 2**k * (1 + f) ---------------------------------------------------------------

_LOG = _single(
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
_ATANH = _double(
    0.14616449685043406,
    0.15331721600556042,
    0.18182889125261723,
    0.2222221113479508,
    0.28571428625975487,
    0.39999999999899505,
    0.666666666666667,
)
_LN_2, _LN_2_REST = _double(math.log(2), 2.3190468138462996e-17)


@device
def log_float32(x: Any) -> Any:
    """The natural logarithm of a float32 that is positive and normal."""
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
    """The natural logarithm of a float64 that is positive and normal."""
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


# ---- sine and cosine: of quarters of a turn and pi * r, with r from -1/4 to 1/4 ------------------

_SIN_32 = _single(-0.59161174, 2.549985, -5.167712)
_COS_32 = _single(0.23212542, -1.3351378, 4.0587106, -4.934802, 1.0)
_PI_32, _PI_32_REST = _single(math.pi, -8.742278e-08)
_SIN_64 = _double(
    0.00046221110224187623,
    -0.0073701436435937495,
    0.08214587730641625,
    -0.5992645291845385,
    2.5501640398766154,
    -5.167712780049969,
)
_COS_64 = _double(
    -0.00010370082971594627,
    0.001929493874894941,
    -0.025806887964701878,
    0.23533063028399223,
    -1.3352627688538095,
    4.058712126416765,
    -4.934802200544679,
    1.0,
)
_PI_64, _PI_64_REST = _double(math.pi, 1.2246467991473532e-16)


@device
def sin_cos_float32(quarters: Any, r: Any) -> Any:
    """Sine and cosine as float32."""
    z = r * r
    sine = _SIN_32[0]
    for c in _SIN_32[1:]:
        sine = cuda.fma(sine, z, c)
    cosine = _COS_32[0]
    for c in _COS_32[1:]:
        cosine = cuda.fma(cosine, z, c)
    sine = cuda.fma(r, _PI_32, r * cuda.fma(sine, z, _PI_32_REST))
    return _turned(quarters, sine, cosine)


@device
def sin_cos_float64(quarters: Any, r: Any) -> Any:
    """Sine and cosine as float64."""
    z = r * r
    sine = _SIN_64[0]
    for c in _SIN_64[1:]:
        sine = cuda.fma(sine, z, c)
    cosine = _COS_64[0]
    for c in _COS_64[1:]:
        cosine = cuda.fma(cosine, z, c)
    sine = cuda.fma(r, _PI_64, r * cuda.fma(sine, z, _PI_64_REST))
    return _turned(quarters, sine, cosine)


@device
def _turned(quarters: Any, sine: Any, cosine: Any) -> Any:
    swaps = quarters & 1 != 0
    s = cosine if swaps else sine
    c = sine if swaps else cosine
    return -s if quarters & 2 != 0 else s, -c if quarters + 1 & 2 != 0 else c
