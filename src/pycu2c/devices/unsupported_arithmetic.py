"""What device arrays answer where Python or numpy would compute with them on the host: an error
that says what computes instead. Knows operators and numpy's protocols, nothing of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

_INSTEAD = (
    "a kernel computes with it, or CuPy and PyTorch, which take it without a copy; copy_to_host() "
    "gives numpy's array"
)
COMPUTED = f": {_INSTEAD}, which has it"

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
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "abs": "abs()"}


class NoHostArithmetic:
    """Operators and numpy's functions as errors. Two such are the same if they are one object."""

    __slots__ = ()

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError(
            "numpy does not read a device array by itself: write copy_to_host(), which copies it"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        raise _refused(ufunc)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _LOOK_ONLY:
            return function._implementation(*args, **kwargs)
        raise _refused(function)

    __hash__ = object.__hash__


# numpy's functions that read what an array says of itself, and none of its elements
_LOOK_ONLY = {np.shape, np.ndim, np.size, np.result_type, np.can_cast}


def _refused(function: Any) -> TypeError:
    return TypeError(f"numpy's {function.__name__} does not take a device array: {_INSTEAD}")


def _between(symbol: str) -> Callable[[Any, Any], Any]:
    def refuse(self: Any, other: Any) -> Any:
        if _computes_on_devices(other):
            return NotImplemented
        hint = f"{COMPUTED}; `is` says whether they are one object" if symbol == "==" else COMPUTED
        raise TypeError(f"a device array has no {symbol}{hint}")

    return refuse


def _computes_on_devices(other: object) -> bool:
    """Whether it is of a package whose operators may take device arrays, such as CuPy."""
    return not isinstance(other, NoHostArithmetic) and hasattr(
        type(other), "__cuda_array_interface__"
    )


def _of_one(symbol: str) -> Callable[[Any], Any]:
    def refuse(self: Any) -> Any:
        raise TypeError(f"a device array has no {symbol}{COMPUTED}")

    return refuse


if not TYPE_CHECKING:  # checkers see a class without operators
    for _name, _symbol in _BINARY.items():
        setattr(NoHostArithmetic, f"__{_name}__", _between(_symbol))
        setattr(NoHostArithmetic, f"__r{_name}__", _between(_symbol))
    for _name, _symbol in _COMPARED.items():
        setattr(NoHostArithmetic, f"__{_name}__", _between(_symbol))
    for _name, _symbol in _UNARY.items():
        setattr(NoHostArithmetic, f"__{_name}__", _of_one(_symbol))
