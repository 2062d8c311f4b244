"""NumPy ufuncs on whole arrays in the reference interpreter, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.reference import elements as elements


def lift_to_arrays(function: object, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ufunc as kernels call it: on numbers, or with output arrays."""
    if not isinstance(function, np.ufunc):
        return compute
    ufunc = function

    def call(*given: Any, out: Any = None, **named: Any) -> Any:
        outs = given[ufunc.nin :] or (out if isinstance(out, tuple) else (out,))
        if outs[0] is None:
            return compute(*given, **named)
        shape = outs[0].shape
        operands = [_element_getter(value, shape) for value in given[: ufunc.nin]]
        for at in np.ndindex(shape):
            result = compute(*(v(at) for v in operands))
            results = result if isinstance(result, tuple) else (result,)
            for array, value in zip(outs, results, strict=True):
                elements.store(array, at, value, "")
        return outs[0] if ufunc.nout == 1 else tuple(outs)

    return call


def _element_getter(value: Any, shape: tuple[int, ...]) -> Callable[[tuple[int, ...]], Any]:
    """Return the function from an index to an operand's number (broadcast)."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return lambda _: value
    spread = np.broadcast_to(value.copy(), shape)
    return lambda at: spread[at]
