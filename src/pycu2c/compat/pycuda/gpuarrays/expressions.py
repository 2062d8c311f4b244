"""Define the expressions by which GPUArrays compute, as kernels of ``pycu2c.cupy``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.reduction.kernel import ReductionKernel

_PREAMBLE = """
template <typename T> static __device__ inline T _smaller(T a, T b) { return a < b || b != b ? a : b; }
template <typename T> static __device__ inline T _larger(T a, T b) { return a > b || b != b ? a : b; }
template <typename T> static __device__ inline T _integer_power(T base, T exponent) {
    T power = exponent < 0 ? T(base * base == 1 ? 1 : 0) : T(1);
    for (T n = exponent < 0 ? -exponent : exponent; n; n /= 2, base *= base)
        if (n % 2) power *= base;
    return power;
}"""  # noqa: E501

# expressions of the operands x and y; Z is the type of the result
ADD, SUBTRACT, MULTIPLY, DIVIDE = (f"Z(x) {sign} Z(y)" for sign in "+-*/")
MINIMUM, MAXIMUM = "_smaller(Z(x), Z(y))", "_larger(Z(x), Z(y))"
_POWERS = {"i": "_integer_power(Z(x), Z(y))", "u": "_integer_power(Z(x), Z(y))"}
_ABSOLUTE = {"i": "x < 0 ? -x : x", "u": "x", "b": "x", "c": "abs(x)"}


def power(dtype: np.dtype[Any]) -> str:
    """Return the expression of ``x ** y`` for results of a dtype."""
    return _POWERS.get(dtype.kind, "pow(Z(x), Z(y))")


def absolute(dtype: np.dtype[Any]) -> str:
    """Return the expression of ``abs(x)`` for elements of a dtype."""
    return _ABSOLUTE.get(dtype.kind, "fabs(x)")


def compute(
    expression: str, inputs: str, operands: Sequence[Any], out: Any, stream: object = None
) -> None:
    """Compute an expression for each element of ``out``, which it calls ``z``."""
    if out.size:
        arguments = map(_argument, (*operands, out))
        _element_kernel(expression, inputs)(*arguments, stream=stream)


def _argument(value: Any) -> Any:
    """Return an array as a device array, whose calls the kernel caches; numbers as they are."""
    return value.device_array() if hasattr(value, "device_array") else value


def reduce(name: str, operands: Sequence[Any], out: Any, stream: object = None) -> None:
    """Reduce arrays to an array without axes: sum, dot, any, all, min or max."""
    _reduction(name)(*map(_argument, operands), _argument(out), stream=stream)


@functools.cache
def _element_kernel(expression: str, inputs: str) -> ElementwiseKernel:
    name = "gpuarray_kernel"
    return ElementwiseKernel(inputs, "Z z", f"z = {expression}", name, preamble=_PREAMBLE)


_REDUCTIONS = {  # the name: the inputs, the mapped element, the combination, the identity
    "sum": ("T x", "Z(x)", "a + b", "0"),
    "dot": ("T x, U y", "Z(x) * Z(y)", "a + b", "0"),
    "any": ("T x", "x != T(0)", "a || b", "false"),
    "all": ("T x", "x != T(0)", "a && b", "true"),
    "min": ("T x", "x", "_smaller(a, b)", None),
    "max": ("T x", "x", "_larger(a, b)", None),
}


@functools.cache
def _reduction(name: str) -> ReductionKernel:
    inputs, mapped, combined, identity = _REDUCTIONS[name]
    return ReductionKernel(
        inputs, "Z z", mapped, combined, "z = a", identity, f"gpuarray_{name}", preamble=_PREAMBLE
    )
