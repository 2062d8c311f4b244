"""Reject ``==`` and numpy functions on device arrays; the errors recommend kernels."""

from __future__ import annotations

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
    """A base class without operators, whose numpy functions and ``==`` raise TypeError."""

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
        is_other_library = not isinstance(other, NoHostArithmetic)
        if is_other_library and hasattr(type(other), "__cuda_array_interface__"):
            return NotImplemented  # CuPy's operators, for example, accept device arrays
        raise TypeError(
            f"a device array has no =={ARITHMETIC_HINT}; `is` tests whether both are the same "
            "object"
        )
