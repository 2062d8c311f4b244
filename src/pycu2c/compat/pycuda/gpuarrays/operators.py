"""Make the methods of GPUArray's arithmetic and comparison operators from expressions."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.expressions import compute

Expression: TypeAlias = str | Callable[[np.dtype[Any]], str]  # or a function of the result dtype


def is_number(value: object) -> bool:
    """Return whether a value is a Python or numpy number."""
    return isinstance(value, (numbers.Number, np.generic)) or (
        isinstance(value, np.ndarray) and value.shape == ()
    )


def _common_dtype(x: Any, y: Any) -> np.dtype[Any]:
    """Return the result dtype of two arrays, or of an array and a number."""
    return np.result_type(*(getattr(operand, "dtype", operand) for operand in (x, y)))


def quotient_dtype(x: Any, y: Any) -> np.dtype[Any]:
    """Return the result dtype of a division; float64 for integers."""
    dtype = _common_dtype(x, y)
    return np.dtype(np.float64) if dtype.kind in "iub" else dtype


def _operator(
    expression: Expression, dtype_of: Callable[[Any, Any], Any] = _common_dtype, *, swapped: bool
) -> Callable[[Any, Any], Any]:
    """Return the method of an operator; ``swapped``: this array is the right operand."""

    def method(self: Any, other: Any) -> Any:
        other = self._operand(other)
        if other is NotImplemented:
            return NotImplemented
        x, y = (other, self) if swapped else (self, other)
        return apply_binary(expression, x, y, dtype_of(x, y))

    return method


def operators(expression: Expression, dtype_of: Any = _common_dtype) -> tuple[Any, Any, Any]:
    """Return the methods of an operator, of its swapped form and of its assignment."""

    def in_place(self: Any, other: Any) -> Any:
        other = self._operand(other)
        return apply_binary(expression, self, other, self.dtype, self)

    one, other = (_operator(expression, dtype_of, swapped=swapped) for swapped in (False, True))
    return one, other, in_place


def comparison(sign: str) -> Callable[[Any, Any], Any]:
    """Return the method of a comparison; results are 1 and 0 in the dtype of the arrays."""

    def dtype_of(array: Any, other: Any) -> np.dtype[Any]:
        return _common_dtype(array, other) if not is_number(other) else array.dtype

    return _operator(f"x {sign} y", dtype_of, swapped=False)


@translate_errors
def apply_binary(
    expression: Expression, x: Any, y: Any, dtype: Any, out: Any = None, stream: object = None
) -> Any:
    """Return the value of an expression of two arrays, or of an array and a number."""
    if out is None:
        out = _operand_of_result_shape(x, y)._new_like_me(dtype)
    text = expression if isinstance(expression, str) else expression(out.dtype)
    compute(text, "T x, U y", (x, y), out, stream)
    return out


def _operand_of_result_shape(a: Any, b: Any) -> Any:
    """Return the operand that has the shape of the result. Raises NotImplementedError."""
    shapes = [getattr(each, "shape", ()) for each in (a, b)]
    if () not in shapes and shapes[0] != shapes[1]:
        raise NotImplementedError(
            f"Broadcasting binary operator with shapes: {shapes[0]}, {shapes[1]}."
        )
    return b if is_number(a) or (a.shape == () and not is_number(b)) else a
