"""Access host memory of the program: numpy arrays, bytes, and other buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def flat_bytes(given: Any, *, written: bool = False) -> NDArray[np.uint8]:
    """Return the bytes of a contiguous array or buffer. Raises TypeError, ValueError."""
    array = given if isinstance(given, np.ndarray) else _array(given)
    if written and not array.flags.writeable:
        raise TypeError("the memory that is written to is read-only")
    if array.size and not array.flags.c_contiguous:
        array = array.T if array.flags.f_contiguous else _dense(array)
    return array.reshape(-1).view(np.uint8)


def _array(given: Any) -> NDArray[Any]:
    if isinstance(given, np.generic):
        return np.asarray(given)
    try:
        return np.frombuffer(memoryview(given), np.uint8)
    except TypeError:
        raise TypeError(
            f"a numpy array or another buffer of the host is copied, not {type(given).__name__}"
        ) from None


def _dense(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with its axes in memory order; its memory must be contiguous."""
    order = np.argsort([-abs(step) for step in array.strides], kind="stable")
    found = array.transpose(order)
    if not found.flags.c_contiguous:
        raise ValueError(
            "an array with gaps between its elements is not copied: pass np.ascontiguousarray(a)"
        )
    return found
