"""Implement ``pycuda.cumath``: elementwise functions of GPUArrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycu2c.compat.pycuda.gpuarrays.functions import apply_to_operands
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray, as_gpuarray


def _elementwise(name: str) -> Callable[..., GPUArray]:
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
        return as_gpuarray(array).map_elements(f"{name}(x)", out=out, stream=stream)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"Return ``{name}`` of each element."
    return apply


ceil, floor, fabs = map(_elementwise, ("ceil", "floor", "fabs"))
exp, log, log10, sqrt = map(_elementwise, ("exp", "log", "log10", "sqrt"))
sin, cos, tan = map(_elementwise, ("sin", "cos", "tan"))
asin, acos, atan = arcsin, arccos, arctan = tuple(map(_elementwise, ("asin", "acos", "atan")))
sinh, cosh, tanh = map(_elementwise, ("sinh", "cosh", "tanh"))


def atan2(y: GPUArray, x: GPUArray, stream: object = None) -> GPUArray:
    """Return the angles of points."""
    return apply_to_operands("atan2(Z(x), Z(y))", y, x, None, stream)
