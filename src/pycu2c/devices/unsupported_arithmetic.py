"""Reject operators and numpy functions on device arrays; the errors recommend kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

ARITHMETIC_HINT = (
    ": a kernel, CuPy or PyTorch can compute with it without a copy; copy_to_host() gives a numpy "
    "array"
)
# numpy functions that read the attributes of an array, or call its methods, and read no element
_SUPPORTED_FUNCTIONS = {
    *(np.shape, np.ndim, np.size, np.result_type, np.can_cast),
    *(np.transpose, np.reshape, np.squeeze),
}


class NoHostArithmetic:
    """A base class whose operators and numpy functions raise TypeError."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError(
            "a device array is not converted to a numpy array implicitly: call copy_to_host()"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"numpy's {ufunc.__name__} does not take a device array{ARITHMETIC_HINT}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _SUPPORTED_FUNCTIONS:
            return function._implementation(*args, **kwargs)
        self.__array_ufunc__(function, "__call__")

    def __eq__(self, other: object) -> bool:  # without it, arrays would compare as objects
        if _has_operators(other):
            return NotImplemented
        raise TypeError(
            f"a device array has no =={ARITHMETIC_HINT}; `is` tests whether both are the same "
            "object"
        )


def _has_operators(other: object) -> bool:
    """Return whether another library, such as CuPy, computes with its own and device arrays."""
    is_other_library = not isinstance(other, NoHostArithmetic)
    return is_other_library and hasattr(type(other), "__cuda_array_interface__")


def _unsupported(symbol: str) -> Callable[[object, object], Any]:
    def operator(_: object, other: object) -> Any:
        if _has_operators(other):
            return NotImplemented
        raise TypeError(f"a device array has no {symbol}{ARITHMETIC_HINT}")

    return operator


_ORDERINGS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"}
_ARITHMETIC |= {"pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^"}
for _name, _symbol in (_ORDERINGS | _ARITHMETIC).items():
    setattr(NoHostArithmetic, f"__{_name}__", _unsupported(_symbol))
for _name, _symbol in _ARITHMETIC.items():
    setattr(NoHostArithmetic, f"__r{_name}__", _unsupported(_symbol))
