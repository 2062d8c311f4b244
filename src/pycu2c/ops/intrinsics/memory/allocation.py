"""Arrays that a kernel allocates: shared, local and constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.ops.intrinsics.kinds import array, const, form
from pycu2c.ops.intrinsics.registry import Effect, intrinsic

POISON = 0xA5  # fills new arrays, so that kernels that expect zeros fail in the reference

_RESULTS = {
    "int | tuple[int]": 'Array[_E, Literal[1], Literal["C"]]',
    "tuple[int, int]": 'Array[_E, Literal[2], Literal["C"]]',
    "tuple[int, int, int]": 'Array[_E, Literal[3], Literal["C"]]',
}
_OVERLOADS = (
    *(f"(shape: {s}, dtype: type[_E], alignment: int = 0) -> {a}" for s, a in _RESULTS.items()),
    "(shape: int | tuple[int, ...], dtype: Any, alignment: int = 0) -> Any",
)


def uninitialised(shape: Any, dtype: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array filled with a poison value."""
    fresh = np.empty(shape, dtype)
    fresh.view(np.uint8).fill(POISON if fresh.dtype != bool else 1)
    return fresh


@intrinsic("cuda.shared.array", effect=Effect.FORM, overloads=_OVERLOADS)
def shared_array(shape: const, dtype: const, alignment: const = 0) -> form:
    """Return an uninitialized array that the threads of a block share.

    There is one per block and call. A shape of 0 is the dynamic shared memory of the launch.
    ``alignment`` is that of the first element in bytes, a power of two up to 1024.
    """
    return uninitialised(shape, dtype)  # the interpreter makes one of them per block


@intrinsic("cuda.local.array", effect=Effect.FORM, overloads=_OVERLOADS)
def local_array(shape: const, dtype: const, alignment: const = 0) -> form:
    """Return an uninitialized array that is private to the thread.

    ``alignment`` is that of the first element in bytes, a power of two up to 1024.
    """
    return uninitialised(shape, dtype)


@intrinsic(
    "cuda.const.array_like",
    effect=Effect.FORM,
    overloads=("(ndarray: Array[_E, Any, Any]) -> Array[_E, Any, Any]", "(ndarray: Any) -> Any"),
)
def constant_array_like(ndarray: array) -> form:
    """Return a global NumPy array in constant memory; compilation reads its elements.

    Every global array that a kernel reads is in constant memory, so the call may be omitted.
    """
    return ndarray
