"""Define functions of ``half2`` and ``bfloat162`` with CUDA's names: ``cuda.fp16``, ``cuda.bf16``.

Each applies the scalar function to both components. Some have a CUDA intrinsic.
"""

from __future__ import annotations

import copy
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import pycu2c.ops.intrinsics.floats.half_names  # noqa: F401  # registers the scalar functions
from pycu2c.base.records import replace
from pycu2c.base.types import bfloat16, float16, float32
from pycu2c.base.vector_types import bfloat162, float2, half2
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device
from pycu2c.ops.intrinsics.floats.half import FMA
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic
from pycu2c.ops.names.cuda_namespace import LIBRARY_FUNCTIONS

# Comparisons: their scalar forms define the NaN semantics; CUDA has an instruction for each.
_SUFFIXES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu")


def _pair(comparison: Any) -> Callable[..., Any]:
    def pair(a: Any, b: Any) -> Any:
        a.x, a.y = float(comparison(a.x, b.x)), float(comparison(a.y, b.y))
        return a

    return pair


def _both(comparison: Any) -> Callable[..., Any]:
    def both(a: Any, b: Any) -> Any:
        return comparison(a.x, b.x) and comparison(a.y, b.y)

    return both


def _mask(comparison: Any) -> Callable[..., Any]:
    def mask(a: Any, b: Any) -> Any:
        return (0xFFFF if comparison(a.x, b.x) else 0) | (0xFFFF0000 if comparison(a.y, b.y) else 0)

    return mask


# (name, maker of the function, result type if not a pair, docstring)
_FORMS: tuple[tuple[str, Callable[[Any], Callable[..., Any]], str, str], ...] = (
    ("h{}2", _pair, "", "1.0 where {}, else 0.0."),
    ("hb{}2", _both, "bool", "Whether in both components {}."),
    ("h{}2_mask", _mask, "uint32", "The 16 bits of a component are 1 where {}, else 0."),
)


def _comparisons(module: str, pair_type: Any) -> dict[str, Any]:
    """Return the comparisons of ``cuda.fp16`` or ``cuda.bf16`` by name."""
    functions = {}
    for suffix in _SUFFIXES:
        comparison = REGISTRY[f"cuda.{module}.h{suffix}"]
        for pattern, make_function, result, doc in _FORMS:
            name = pattern.format(suffix)
            function = make_function(comparison)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = doc.format(_description(comparison))
            signature = f"{result or pair_type}({pair_type}, {pair_type})"
            text = f"return __{name}(a, b);"
            functions[name] = c_function(cuda=text, pure=True, signature=signature)(function)
    return functions


def _description(comparison: Intrinsic) -> str:
    """Return the scalar comparison's description with ``a`` and ``b`` as operands."""
    description = comparison.doc.partition(":")[0].rstrip(".")
    return description.replace("x ", "a ").replace(" y", " b")


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


# ---- functions of each component -----------------------------------------------------------------


def _of_one(function: Any) -> Callable[..., Any]:
    def of_pair(a: Any) -> Any:
        a.x, a.y = function(a.x), function(a.y)
        return a

    return of_pair


def _of_two(function: Any) -> Callable[..., Any]:
    def of_pairs(a: Any, b: Any) -> Any:
        a.x, a.y = function(a.x, b.x), function(a.y, b.y)
        return a

    return of_pairs


def _of_three(function: Any) -> Callable[..., Any]:
    def of_pairs(a: Any, b: Any, c: Any) -> Any:
        a.x, a.y = function(a.x, b.x, c.x), function(a.y, b.y, c.y)
        return a

    return of_pairs


# (name, maker, function of components, docstring); CUDA has an intrinsic for the first ones
_CUDA_INTRINSICS: tuple[tuple[str, Callable[[Any], Callable[..., Any]], Any, str], ...] = (
    ("hadd2", _of_two, operator.add, "Return the sums, each rounded once."),
    ("hsub2", _of_two, operator.sub, "Return the differences, each rounded once."),
    ("hmul2", _of_two, operator.mul, "Return the products, each rounded once."),
    ("hfma2", _of_three, FMA, "Return ``a * b + c``, each rounded once."),
    ("hneg2", _of_one, operator.neg, "Return the negated components."),
    ("habs2", _of_one, abs, "Return the absolute values."),
    ("hmin2", _of_two, np.fmin, "Return the minima; of a NaN and a number, the number."),
    ("hmax2", _of_two, np.fmax, "Return the maxima; of a NaN and a number, the number."),
)
_COMPONENT_FUNCTIONS: tuple[tuple[str, Callable[[Any], Callable[..., Any]], Any, str], ...] = (
    ("h2div", _of_two, operator.truediv, "Return the quotients, each rounded once."),
    ("h2sqrt", _of_one, math.sqrt, "Return the square roots."),
    ("h2rsqrt", _of_one, REGISTRY["cuda.rsqrt"], "Return ``1 / sqrt(x)``."),
    ("h2rcp", _of_one, REGISTRY["cuda.rcp"], "Return ``1 / x``."),
    ("h2exp", _of_one, math.exp, "Return e to the power ``x``."),
    ("h2exp2", _of_one, np.exp2, "Return 2 to the power ``x``."),
    ("h2exp10", _of_one, REGISTRY["cuda.exp10"], "Return 10 to the power ``x``."),
    ("h2log", _of_one, math.log, "Return the natural logarithms."),
    ("h2log2", _of_one, math.log2, "Return the base-2 logarithms."),
    ("h2log10", _of_one, math.log10, "Return the base-10 logarithms."),
    ("h2sin", _of_one, math.sin, "Return the sines."),
    ("h2cos", _of_one, math.cos, "Return the cosines."),
    ("h2tanh", _of_one, math.tanh, "Return the hyperbolic tangents."),
    ("h2floor", _of_one, np.floor, "Round down to integers."),
    ("h2ceil", _of_one, np.ceil, "Round up to integers."),
    ("h2rint", _of_one, np.rint, "Round to the nearest integers, ties to even."),
    ("h2trunc", _of_one, np.trunc, "Round toward zero."),
)


def _of_components(pair_type: Any) -> dict[str, Any]:
    """Return the functions of each component of pairs of one type, by name."""
    functions = {}
    for name, make, function, doc in _CUDA_INTRINSICS:
        of_pairs = make(function)
        suffix = "_rn" if name in ("hadd2", "hsub2", "hmul2") else ""  # never fused
        parameters = inspect.signature(of_pairs).parameters
        text = f"return __{name}{suffix}({', '.join(parameters)});"
        if pair_type is bfloat162 and name == "hfma2":
            text = _HFMA2_BFLOAT16
        signature = f"{pair_type}({', '.join([str(pair_type)] * len(parameters))})"
        inline_c = c_function(cuda=text, pure=True, signature=signature)(of_pairs)
        functions[name] = _named(inline_c, name, doc)
    for name, make, function, doc in _COMPONENT_FUNCTIONS:
        functions[name] = _named(device(make(function)), name, doc)
    return functions


def _named(function: Any, name: str, doc: str) -> Any:
    """Give a function its name, also in generated code, and its docstring."""
    function.__name__, function.__doc__ = name, doc
    source = function.__pycu2c_device__
    tree = copy.copy(source.tree)
    tree.name = name
    function.__pycu2c_device__ = replace(source, tree=tree)
    return function


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


_COMMON_FUNCTIONS: tuple[Any, ...] = (lowhigh2highlow, low2float, high2float)


def _conversions(pair: Any, element: Any, pair_name: str, element_name: str) -> dict[str, Any]:
    """Return the functions that make and take apart pairs of one type, by name."""

    def to_floats(a: Any) -> Any:
        return float2(a.x, a.y)

    def of_components(a: Any) -> Any:
        return pair(a.x, a.y)

    def of_floats(a: Any, b: Any) -> Any:
        return pair(a, b)

    def of_float(a: Any) -> Any:
        return pair(a, a)

    def of_halves(a: Any, b: Any) -> Any:
        return pair(element(a), element(b))

    def low(a: Any) -> Any:
        return a.x

    def high(a: Any) -> Any:
        return a.y

    table = (
        (f"{pair_name}2float2", to_floats, "Return both components as float32."),
        (f"float22{pair_name}_rn", of_components, f"Return both components as {element}."),
        (f"floats2{pair_name}_rn", of_floats, f"Return ``(a, b)`` as {element}."),
        (f"float2{pair_name}_rn", of_float, f"Return ``(a, a)`` as {element}."),
        (f"halves2{pair_name}", of_halves, "Return ``(a, b)``."),
        (f"low2{element_name}", low, "Return ``x``."),
        (f"high2{element_name}", high, "Return ``y``."),
    )
    return {name: _named(device(function), name, doc) for name, function, doc in table}


for _module, _pair_type, _names in (
    ("fp16", half2, (float16, "half2", "half")),
    ("bf16", bfloat162, (bfloat16, "bfloat162", "bfloat16")),
):
    _functions: dict[str, Any] = _of_components(_pair_type)
    _functions |= {f.__name__: f for f in _COMMON_FUNCTIONS}
    _functions |= _conversions(_pair_type, *_names)
    _functions |= _comparisons(_module, _pair_type)
    LIBRARY_FUNCTIONS.update((f"cuda.{_module}.{name}", f) for name, f in _functions.items())
