"""Functions of Python and NumPy that are implemented as device functions in the kernel language."""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from pycu2c.base.records import replace
from pycu2c.base.source import Source, SourceUnavailable, source_of
from pycu2c.ops.names.numba_names import numba_function


def modf(x: Any) -> Any:
    """Return the fractional and the integral part, both with the sign of ``x``."""
    value = math.copysign(x, x)
    whole = np.trunc(value)
    rest = 0.0 if math.isinf(value) else value - whole
    return math.copysign(rest, value), whole


def frexp(x: Any) -> Any:
    """Return ``m, e`` with ``x == m * 2**e`` and ``0.5 <= abs(m) < 1``."""
    value = math.copysign(x, x)
    if value == 0 or not math.isfinite(value):
        return value, 0
    exponent = math.floor(math.log2(abs(value))) + 1
    mantissa = math.ldexp(value, -exponent)
    if abs(mantissa) >= 1:  # the logarithm was rounded
        return mantissa / 2, exponent + 1
    if abs(mantissa) < 0.5:
        return mantissa * 2, exponent - 1
    return mantissa, exponent


def prod(iterable: Any, *, start: Any = 1) -> Any:
    """Return the product of a tuple, or of the elements of an array."""
    result = start
    for value in iterable:
        result = result * value
    return result


def dist(p: Any, q: Any) -> Any:
    """Return the distance between two points."""
    result = 0.0
    for a, b in zip(p, q):
        result = math.hypot(result, a - b)
    return result


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """Return whether two numbers are approximately equal."""
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    apart = math.fabs(b - a)
    if apart <= abs_tol:
        return True
    return apart <= math.fabs(rel_tol * b) or apart <= math.fabs(rel_tol * a)


def np_isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """Return whether ``a`` is approximately equal to the reference value ``b``."""
    if a == b:
        return True
    if equal_nan and math.isnan(a) and math.isnan(b):
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return math.fabs(a - b) <= atol + rtol * math.fabs(b)


def polar(z: Any) -> Any:
    """Return the modulus and the phase."""
    return abs(z), cmath.phase(z)


def rect(r: Any, phi: Any) -> Any:
    """Return the complex number with modulus ``r`` and phase ``phi``."""
    real, imag = r * math.cos(phi), r * math.sin(phi)
    if phi == 0:  # also where the modulus is infinite or NaN
        imag = math.copysign(1.0, r) * phi
    elif not math.isfinite(phi) and (r == 0 or math.isinf(r)):  # in any direction
        real, imag = abs(r), r - r
    return complex(real, imag)


LIBRARY: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (math.modf, modf),
    (np.modf, modf),
    (math.frexp, frexp),
    (np.frexp, frexp),
    (cmath.polar, polar),
    (cmath.rect, rect),
    (math.prod, prod),
    (math.dist, dist),
    (math.isclose, isclose),
    (np.isclose, np_isclose),
)


@functools.cache
def _sources() -> dict[int, Source]:
    return {id(function): source_of(implementation) for function, implementation in LIBRARY}  # type: ignore[arg-type]


def device_source(value: object) -> Source | None:
    """Return the source of a device function of pycu2c or numba, or of a function in ``LIBRARY``.

    Return None for other objects, and for functions of numba without a text.
    """
    source = getattr(value, "__pycu2c_device__", None)
    if isinstance(source, Source):
        return source
    if isinstance(value, FunctionType) and value.__module__.startswith(_DEVICE_MODULES):
        return _source(value)
    python = numba_function(value)
    if python is None:
        return _sources().get(id(value))
    try:
        return _numba_source(python)
    except SourceUnavailable:
        return None


# modules of device functions: checks, the reductions of arrays, the methods of groups of threads
_DEVICE_MODULES = (
    "pycu2c.checks.device_functions.",
    "pycu2c.ops.intrinsics.array_reductions",
    "pycu2c.ops.intrinsics.threads.cooperative_groups",
    "pycu2c.ops.intrinsics.threads.coalesced_groups",
)
# cached, so that a function has one Source: sources are compared by identity
_source = functools.cache(source_of)


@functools.cache
def _numba_source(python: FunctionType) -> Source:
    return replace(source_of(python), is_numba=True)
