"""Reject operators and numpy functions on device arrays; the errors recommend kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

_ALTERNATIVE = (
    "a kernel, CuPy or PyTorch can compute with it without a copy; copy_to_host() gives a numpy "
    "array"
)
ARITHMETIC_HINT = f": {_ALTERNATIVE}"

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "abs": "abs()"}

# numpy functions that read the attributes of an array, or call its methods, and read no element
_SUPPORTED_FUNCTIONS = {
    *(np.shape, np.ndim, np.size, np.result_type, np.can_cast),
    *(np.transpose, np.reshape, np.squeeze),
}


class NoHostArithmetic:
    """A base class whose operators and numpy functions raise TypeError."""

    __slots__ = ()

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError(
            "a device array is not converted to a numpy array implicitly: call copy_to_host()"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        raise _numpy_error(ufunc)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _SUPPORTED_FUNCTIONS:
            return function._implementation(*args, **kwargs)
        raise _numpy_error(function)

    __hash__ = object.__hash__


def _numpy_error(function: Any) -> TypeError:
    return TypeError(f"numpy's {function.__name__} does not take a device array: {_ALTERNATIVE}")


def _binary_operator(symbol: str) -> Callable[[Any, Any], Any]:
    """Return a method for an operator, which raises TypeError."""
    hint = (
        f"{ARITHMETIC_HINT}; `is` tests whether both are the same object"
        if symbol == "=="
        else ARITHMETIC_HINT
    )

    def reject(self: Any, other: Any) -> Any:
        # CuPy's operators, for example, accept device arrays
        is_other_library = not isinstance(other, NoHostArithmetic)
        if is_other_library and hasattr(type(other), "__cuda_array_interface__"):
            return NotImplemented
        raise TypeError(f"a device array has no {symbol}{hint}")

    return reject


def _unary_operator(symbol: str) -> Callable[[Any], Any]:
    """Return a method for an operator, which raises TypeError."""

    def reject(self: Any) -> Any:
        raise TypeError(f"a device array has no {symbol}{ARITHMETIC_HINT}")

    return reject


if not TYPE_CHECKING:  # type checkers see a class without operators
    for _name, _symbol in (_BINARY | _COMPARISONS).items():
        setattr(NoHostArithmetic, f"__{_name}__", _binary_operator(_symbol))
    for _name, _symbol in _BINARY.items():
        setattr(NoHostArithmetic, f"__r{_name}__", _binary_operator(_symbol))
    for _name, _symbol in _UNARY.items():
        setattr(NoHostArithmetic, f"__{_name}__", _unary_operator(_symbol))
