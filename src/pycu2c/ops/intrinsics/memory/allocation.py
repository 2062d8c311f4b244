"""Arrays that a kernel allocates: shared, local and constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.ops.intrinsics.kinds import array, const, form
from pycu2c.ops.intrinsics.registry import Effect, intrinsic

POISON = 0xA5  # fills new arrays, so that kernels that expect zeros fail in the reference

_OVERLOADS = (
    '(shape: int | tuple[int], dtype: type[_E]) -> Array[_E, Literal[1], Literal["C"]]',
    '(shape: tuple[int, int], dtype: type[_E]) -> Array[_E, Literal[2], Literal["C"]]',
    '(shape: tuple[int, int, int], dtype: type[_E]) -> Array[_E, Literal[3], Literal["C"]]',
    "(shape: int | tuple[int, ...], dtype: Any) -> Any",
)


def uninitialised(shape: Any, dtype: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array filled with a poison value."""
    fresh = np.empty(shape, dtype)
    fresh.view(np.uint8).fill(POISON if fresh.dtype != bool else 1)
    return fresh


@intrinsic("cuda.shared.array", effect=Effect.FORM, overloads=_OVERLOADS)
def shared_array(shape: const, dtype: const) -> form:
    """Return an uninitialized array that the threads of a block share.

    There is one per block and call. A shape of 0 is the dynamic shared memory of the launch.
    """
    return uninitialised(shape, dtype)  # the interpreter makes one of them per block


@intrinsic("cuda.local.array", effect=Effect.FORM, overloads=_OVERLOADS)
def local_array(shape: const, dtype: const) -> form:
    """Return an uninitialized array that is private to the thread."""
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
