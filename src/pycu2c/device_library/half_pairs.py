"""Define functions of ``half2`` and ``bfloat162`` with CUDA's names: ``cuda.fp16``, ``cuda.bf16``.

Each applies the scalar function to both components. Some have a CUDA intrinsic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pycu2c.ops.intrinsics.floats.half_names  # noqa: F401  # registers the scalar functions
from pycu2c.base.types import bfloat16, float16, float32
from pycu2c.base.vector_types import bfloat162, float2, half2
from pycu2c.device_library.half_pair_comparisons import comparisons
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device
from pycu2c.ops.intrinsics.floats.half import FMA
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.names.cuda_namespace import LIBRARY_FUNCTIONS

rsqrt, rcp, exp10 = (REGISTRY[f"cuda.{name}"] for name in ("rsqrt", "rcp", "exp10"))


_INTRINSIC_CALLS: dict[str, str] = {}  # calls of CUDA intrinsics by function name


def _cuda_intrinsic(call: str) -> Callable[[Callable[..., Any]], Any]:
    """Register the CUDA intrinsic for pairs of either type."""

    def register(function: Callable[..., Any]) -> Any:
        _INTRINSIC_CALLS[function.__name__] = call
        return function

    return register


def _for_type(function: Any, pair_type: Any) -> Any:
    """Return a function for pairs of one type."""
    call = _INTRINSIC_CALLS.get(function.__name__)
    if call is None:
        return function
    parameter_types = [str(pair_type)] * function.__code__.co_argcount
    text = _HFMA2_BFLOAT16 if pair_type is bfloat162 and function is hfma2 else f"return {call};"
    signature = f"{pair_type}({', '.join(parameter_types)})"
    return c_function(cuda=text, pure=True, signature=signature)(function)


# the instruction requires sm_80; elsewhere double is used, in which the products are exact
_HFMA2_BFLOAT16 = """
#if __CUDA_ARCH__ >= 800
return __hfma2(a, b, c);
#else
const double x = (double)__bfloat162float(a.x) * __bfloat162float(b.x) + __bfloat162float(c.x);
const double y = (double)__bfloat162float(a.y) * __bfloat162float(b.y) + __bfloat162float(c.y);
return make_bfloat162(__double2bfloat16(x), __double2bfloat16(y));
#endif
"""


# ---- arithmetic --------------------------------------------------------------------------------


@_cuda_intrinsic("__hadd2_rn(a, b)")
def hadd2(a: Any, b: Any) -> Any:
    """Return the sums, each rounded once."""
    a.x, a.y = a.x + b.x, a.y + b.y
    return a


@_cuda_intrinsic("__hsub2_rn(a, b)")
def hsub2(a: Any, b: Any) -> Any:
    """Return the differences, each rounded once."""
    a.x, a.y = a.x - b.x, a.y - b.y
    return a


@_cuda_intrinsic("__hmul2_rn(a, b)")
def hmul2(a: Any, b: Any) -> Any:
    """Return the products, each rounded once."""
    a.x, a.y = a.x * b.x, a.y * b.y
    return a


@device
def h2div(a: Any, b: Any) -> Any:
    """Return the quotients, each rounded once."""
    a.x, a.y = a.x / b.x, a.y / b.y
    return a


@_cuda_intrinsic("__hfma2(a, b, c)")
def hfma2(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, each rounded once."""
    a.x, a.y = FMA(a.x, b.x, c.x), FMA(a.y, b.y, c.y)
    return a


@_cuda_intrinsic("__hneg2(a)")
def hneg2(a: Any) -> Any:
    """Return the negated components."""
    a.x, a.y = -a.x, -a.y
    return a


@_cuda_intrinsic("__habs2(a)")
def habs2(a: Any) -> Any:
    """Return the absolute values."""
    a.x, a.y = abs(a.x), abs(a.y)
    return a


@_cuda_intrinsic("__hmin2(a, b)")
def hmin2(a: Any, b: Any) -> Any:
    """Return the minima; of a NaN and a number, the number."""
    a.x, a.y = np.fmin(a.x, b.x), np.fmin(a.y, b.y)
    return a


@_cuda_intrinsic("__hmax2(a, b)")
def hmax2(a: Any, b: Any) -> Any:
    """Return the maxima; of a NaN and a number, the number."""
    a.x, a.y = np.fmax(a.x, b.x), np.fmax(a.y, b.y)
    return a


# ---- functions of each component -----------------------------------------------------------------


@device
def h2sqrt(a: Any) -> Any:
    """Return the square roots."""
    a.x, a.y = math.sqrt(a.x), math.sqrt(a.y)
    return a


@device
def h2rsqrt(a: Any) -> Any:
    """Return ``1 / sqrt(x)``."""
    a.x, a.y = rsqrt(a.x), rsqrt(a.y)
    return a


@device
def h2rcp(a: Any) -> Any:
    """Return ``1 / x``."""
    a.x, a.y = rcp(a.x), rcp(a.y)
    return a


@device
def h2exp(a: Any) -> Any:
    """Return e to the power ``x``."""
    a.x, a.y = math.exp(a.x), math.exp(a.y)
    return a


@device
def h2exp2(a: Any) -> Any:
    """Return 2 to the power ``x``."""
    a.x, a.y = np.exp2(a.x), np.exp2(a.y)
    return a


@device
def h2exp10(a: Any) -> Any:
    """Return 10 to the power ``x``."""
    a.x, a.y = exp10(a.x), exp10(a.y)
    return a


@device
def h2log(a: Any) -> Any:
    """Return the natural logarithms."""
    a.x, a.y = math.log(a.x), math.log(a.y)
    return a


@device
def h2log2(a: Any) -> Any:
    """Return the base-2 logarithms."""
    a.x, a.y = math.log2(a.x), math.log2(a.y)
    return a


@device
def h2log10(a: Any) -> Any:
    """Return the base-10 logarithms."""
    a.x, a.y = math.log10(a.x), math.log10(a.y)
    return a


@device
def h2sin(a: Any) -> Any:
    """Return the sines."""
    a.x, a.y = math.sin(a.x), math.sin(a.y)
    return a


@device
def h2cos(a: Any) -> Any:
    """Return the cosines."""
    a.x, a.y = math.cos(a.x), math.cos(a.y)
    return a


@device
def h2tanh(a: Any) -> Any:
    """Return the hyperbolic tangents."""
    a.x, a.y = math.tanh(a.x), math.tanh(a.y)
    return a


@device
def h2floor(a: Any) -> Any:
    """Round down to integers."""
    a.x, a.y = np.floor(a.x), np.floor(a.y)
    return a


@device
def h2ceil(a: Any) -> Any:
    """Round up to integers."""
    a.x, a.y = np.ceil(a.x), np.ceil(a.y)
    return a


@device
def h2rint(a: Any) -> Any:
    """Round to the nearest integers, ties to even."""
    a.x, a.y = np.rint(a.x), np.rint(a.y)
    return a


@device
def h2trunc(a: Any) -> Any:
    """Round toward zero."""
    a.x, a.y = np.trunc(a.x), np.trunc(a.y)
    return a


# ---- halves and pairs ----------------------------------------------------------------------------


@device
def lowhigh2highlow(a: Any) -> Any:
    """Return ``(y, x)``."""
    a.x, a.y = a.y, a.x
    return a


@device
def low2float(a: Any) -> Any:
    """Return ``x`` as float32."""
    return float32(a.x)


@device
def high2float(a: Any) -> Any:
    """Return ``y`` as float32."""
    return float32(a.y)


@device
def half22float2(a: Any) -> Any:
    """Return both components as float32."""
    return float2(a.x, a.y)


@device
def bfloat1622float2(a: Any) -> Any:
    """Return both components as float32."""
    return float2(a.x, a.y)


@device
def float22half2_rn(a: Any) -> Any:
    """Return both components as float16."""
    return half2(a.x, a.y)


@device
def float22bfloat162_rn(a: Any) -> Any:
    """Return both components as bfloat16."""
    return bfloat162(a.x, a.y)


@device
def floats2half2_rn(a: Any, b: Any) -> Any:
    """Return ``(a, b)`` as float16."""
    return half2(a, b)


@device
def floats2bfloat162_rn(a: Any, b: Any) -> Any:
    """Return ``(a, b)`` as bfloat16."""
    return bfloat162(a, b)


@device
def float2half2_rn(a: Any) -> Any:
    """Return ``(a, a)`` as float16."""
    return half2(a, a)


@device
def float2bfloat162_rn(a: Any) -> Any:
    """Return ``(a, a)`` as bfloat16."""
    return bfloat162(a, a)


@device
def halves2half2(a: Any, b: Any) -> Any:
    """Return ``(a, b)``."""
    return half2(float16(a), float16(b))


@device
def halves2bfloat162(a: Any, b: Any) -> Any:
    """Return ``(a, b)``."""
    return bfloat162(bfloat16(a), bfloat16(b))


@device
def low2half(a: Any) -> Any:
    """Return ``x``."""
    return a.x


@device
def high2half(a: Any) -> Any:
    """Return ``y``."""
    return a.y


@device
def low2bfloat16(a: Any) -> Any:
    """Return ``x``."""
    return a.x


@device
def high2bfloat16(a: Any) -> Any:
    """Return ``y``."""
    return a.y


_COMMON_FUNCTIONS: tuple[Any, ...] = (
    *(hadd2, hsub2, hmul2, h2div, hfma2, hneg2, habs2, hmin2, hmax2),
    *(h2sqrt, h2rsqrt, h2rcp, h2exp, h2exp2, h2exp10, h2log, h2log2, h2log10, h2sin, h2cos),
    *(h2tanh, h2floor, h2ceil, h2rint, h2trunc, lowhigh2highlow, low2float, high2float),
)
_FP16_FUNCTIONS: tuple[Any, ...] = (
    *(half22float2, float22half2_rn, floats2half2_rn, float2half2_rn, halves2half2),
    *(low2half, high2half),
)
_BF16_FUNCTIONS: tuple[Any, ...] = (
    *(bfloat1622float2, float22bfloat162_rn, floats2bfloat162_rn, float2bfloat162_rn),
    *(halves2bfloat162, low2bfloat16, high2bfloat16),
)

for _module, _pair_type, _specific_functions in (
    ("fp16", half2, _FP16_FUNCTIONS),
    ("bf16", bfloat162, _BF16_FUNCTIONS),
):
    _functions = {
        f.__name__: _for_type(f, _pair_type) for f in (*_COMMON_FUNCTIONS, *_specific_functions)
    }
    _functions |= comparisons(_module, _pair_type)
    LIBRARY_FUNCTIONS.update((f"cuda.{_module}.{name}", f) for name, f in _functions.items())
