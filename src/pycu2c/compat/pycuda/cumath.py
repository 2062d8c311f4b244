"""Implement ``pycuda.cumath``: elementwise functions of GPUArrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.functions import apply_binary
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray, as_gpuarray
from pycu2c.compat.pycuda.gpuarrays.kernels import elementwise_kernel, launch


def _elementwise(name: str, function: Callable[[Any], Any]) -> Callable[..., GPUArray]:
    dispatcher = elementwise_kernel(function)

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
        return as_gpuarray(array).map_elements(dispatcher, out=out, stream=stream)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"Return ``{name}`` of each element."
    return apply


ceil = _elementwise("ceil", lambda x: np.ceil(x))
floor = _elementwise("floor", lambda x: np.floor(x))
fabs = _elementwise("fabs", lambda x: abs(x))
exp = _elementwise("exp", lambda x: np.exp(x))
log = _elementwise("log", lambda x: np.log(x))
log10 = _elementwise("log10", lambda x: np.log10(x))
sqrt = _elementwise("sqrt", lambda x: np.sqrt(x))
sin = _elementwise("sin", lambda x: np.sin(x))
cos = _elementwise("cos", lambda x: np.cos(x))
tan = _elementwise("tan", lambda x: np.tan(x))
asin = arcsin = _elementwise("asin", lambda x: np.arcsin(x))
acos = arccos = _elementwise("acos", lambda x: np.arccos(x))
atan = arctan = _elementwise("atan", lambda x: np.arctan(x))
sinh = _elementwise("sinh", lambda x: np.sinh(x))
cosh = _elementwise("cosh", lambda x: np.cosh(x))
tanh = _elementwise("tanh", lambda x: np.tanh(x))


def fmod(arg: GPUArray, mod: Any, stream: object = None, out: GPUArray | None = None) -> GPUArray:
    """Return the remainders, with the sign of the dividends."""
    return apply_binary(kernels.FMOD, arg, mod, out, stream)


def ldexp(significand: GPUArray, exponent: Any, stream: object = None) -> GPUArray:
    """Return ``significand * 2**exponent``."""
    return apply_binary(kernels.LDEXP, significand, exponent, None, stream)


def atan2(y: GPUArray, x: GPUArray, stream: object = None) -> GPUArray:
    """Return the angles of points."""
    return apply_binary(kernels.ARCTAN2, y, x, None, stream)


def frexp(arg: GPUArray, stream: object = None) -> tuple[GPUArray, GPUArray]:
    """Return significands and exponents: ``arg == significand * 2**exponent``."""
    return _two_results(kernels.split_exponent, arg, stream)


def modf(arg: GPUArray, stream: object = None) -> tuple[GPUArray, GPUArray]:
    """Return fractional and integral parts."""
    return _two_results(kernels.split_fraction, arg, stream)


@translate_errors
def _two_results(dispatcher: Any, arg: GPUArray, stream: object) -> tuple[GPUArray, GPUArray]:
    """Return the two results of a kernel for each element."""
    arg = as_gpuarray(arg)
    first, second = arg._new_like_me(), arg._new_like_me()
    launch(dispatcher, arg.size, (arg.flat(), first.flat(), second.flat()), stream)
    return first, second
