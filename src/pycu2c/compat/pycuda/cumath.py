"""Implement ``pycuda.cumath``: elementwise functions of GPUArrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.compat.pycuda.errors import translating
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray, as_gpuarray
from pycu2c.compat.pycuda.gpuarrays.kernels import BinaryOperation, launch, of_each
from pycu2c.compat.pycuda.gpuarrays.layout import is_number


def _of_each(name: str, function: Callable[[Any], Any]) -> Callable[..., GPUArray]:
    run = of_each(function)

    def apply(
        array: GPUArray,
        stream_or_out: Any = None,
        *,
        out: GPUArray | None = None,
        stream: object = None,
    ) -> GPUArray:
        if isinstance(stream_or_out, GPUArray):
            out = stream_or_out
        elif stream_or_out is not None:
            stream = stream_or_out
        found: GPUArray = as_gpuarray(array).each(run, out=out, stream=stream)
        return found

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"``{name}`` of every element."
    return apply


ceil = _of_each("ceil", lambda x: np.ceil(x))
floor = _of_each("floor", lambda x: np.floor(x))
fabs = _of_each("fabs", lambda x: abs(x))
exp = _of_each("exp", lambda x: np.exp(x))
log = _of_each("log", lambda x: np.log(x))
log10 = _of_each("log10", lambda x: np.log10(x))
sqrt = _of_each("sqrt", lambda x: np.sqrt(x))
sin = _of_each("sin", lambda x: np.sin(x))
cos = _of_each("cos", lambda x: np.cos(x))
tan = _of_each("tan", lambda x: np.tan(x))
asin = arcsin = _of_each("asin", lambda x: np.arcsin(x))
acos = arccos = _of_each("acos", lambda x: np.arccos(x))
atan = arctan = _of_each("atan", lambda x: np.arctan(x))
sinh = _of_each("sinh", lambda x: np.sinh(x))
cosh = _of_each("cosh", lambda x: np.cosh(x))
tanh = _of_each("tanh", lambda x: np.tanh(x))


@translating
def _of_pairs(
    pairs: BinaryOperation, a: GPUArray, b: Any, out: GPUArray | None, stream: object
) -> GPUArray:
    a = as_gpuarray(a)
    made = a._new_like_me() if out is None else out
    order = made.memory_order if made.ndim > 1 else ""
    other = b if is_number(b) else as_gpuarray(b).flat(order)
    pairs.run(a.flat(order), other, made.flat(), stream)
    return made


def fmod(arg: GPUArray, mod: Any, stream: object = None, out: GPUArray | None = None) -> GPUArray:
    """Return the remainders, with the sign of the dividends."""
    return _of_pairs(kernels.FMOD, arg, mod, out, stream)


def ldexp(significand: GPUArray, exponent: Any, stream: object = None) -> GPUArray:
    """Return ``significand * 2**exponent``."""
    return _of_pairs(kernels.LDEXP, significand, exponent, None, stream)


def atan2(y: GPUArray, x: GPUArray, stream: object = None) -> GPUArray:
    """Return the angles of points."""
    return _of_pairs(kernels.ARCTAN2, y, x, None, stream)


@translating
def frexp(arg: GPUArray, stream: object = None) -> tuple[GPUArray, GPUArray]:
    """Return significands and exponents: ``arg == significand * 2**exponent``."""
    arg = as_gpuarray(arg)
    first, second = arg._new_like_me(), arg._new_like_me()
    given = arg.flat(), first.flat(), second.flat()
    launch(kernels.split_exponent, arg.size, given, stream)
    return first, second


@translating
def modf(arg: GPUArray, stream: object = None) -> tuple[GPUArray, GPUArray]:
    """Return fractional and integral parts."""
    arg = as_gpuarray(arg)
    first, second = arg._new_like_me(), arg._new_like_me()
    given = arg.flat(), first.flat(), second.flat()
    launch(kernels.split_fraction, arg.size, given, stream)
    return first, second
