"""Compare the arrays that two runs of a case have left."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

TOLERANCE = 64  # units in the last place that library functions may differ by


def whole(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The memory that an array is a view of: what lies between its elements counts too."""
    return array if array.base is None else whole(array.base)


def difference(
    expected: Sequence[Any],
    actual: Sequence[Any],
    approximate: Collection[int],
    *,
    precision: type[np.floating[Any]] = np.float64,
    signed_zeros: bool = True,
) -> str:
    """Return what differs, in a few lines; an empty text where nothing does.

    ``approximate`` arguments may differ by TOLERANCE units of ``precision`` or of their own dtype,
    whichever is coarser. Unless ``signed_zeros``, 0.0 and -0.0 are equal.
    """
    for position, (e, a) in enumerate(zip(expected, actual, strict=True)):
        if not isinstance(e, np.ndarray):
            continue
        left, right = whole(e).reshape(-1), whole(a).reshape(-1)
        equal = identical(left, right)
        if not signed_zeros:
            equal |= left == right
        if position in approximate:
            equal |= close(left, right, precision)
        if not equal.all():
            where = int(np.flatnonzero(~equal)[0])
            return (
                f"argument {position}, element {where} of its memory: "
                f"expected {left[where]!r}, got {right[where]!r}\n"
                f"expected {left.tolist()}\nactual   {right.tolist()}"
            )
    return ""


def identical(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bit for bit; one NaN is as good as another."""
    if a.dtype.names:
        fields = [identical(a[name], b[name]) for name in a.dtype.names]
        return np.asarray(np.logical_and.reduce(fields))
    if a.dtype.kind == "V":  # bfloat16, which numpy does not know
        return identical(a.astype(np.float32), b.astype(np.float32))
    same: np.ndarray[Any, Any] = a == b
    if a.dtype.kind in "iub":
        return same
    if a.dtype.kind == "c":
        return identical(a.real, b.real) & identical(a.imag, b.imag)
    nans = np.isnan(a) & np.isnan(b)
    return (same & (np.signbit(a) == np.signbit(b))) | nans


def close(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], precision: type[np.floating[Any]]
) -> np.ndarray[Any, Any]:
    """Compare within TOLERANCE units of the coarser of a precision and the arrays' dtype."""
    with np.errstate(all="ignore"):
        info = np.finfo(a.dtype)
        unit = max(float(info.eps), float(np.finfo(precision).eps))
        near = np.abs(a - b) <= TOLERANCE * unit * np.maximum(np.abs(a), np.abs(b))
        tiny = np.abs(a - b) <= float(info.tiny) * TOLERANCE
    return near | tiny | (a == b) | (np.isnan(a) & np.isnan(b))
