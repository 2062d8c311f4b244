"""NumPy's reductions of all elements of an array, as device functions in the kernel language.

``dtype`` is the type in which the elements are added or multiplied, in C order. NumPy adds floats
in another order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def array_all(a: Any) -> Any:
    """Return whether all elements are true."""
    for x in a.flat:
        if not x:
            return np.bool_(False)
    return np.bool_(True)


def array_any(a: Any) -> Any:
    """Return whether an element is true."""
    for x in a.flat:
        if x:
            return np.bool_(True)
    return np.bool_(False)


def array_count_nonzero(a: Any) -> Any:
    """Return the number of true elements."""
    count = 0
    for x in a.flat:
        if x:
            count += 1
    return count


def array_sum(a: Any, dtype: Any) -> Any:
    """Return the sum."""
    total = dtype(0)
    for x in a.flat:
        total += dtype(x)
    return total


def array_prod(a: Any, dtype: Any) -> Any:
    """Return the product."""
    total = dtype(1)
    for x in a.flat:
        total *= dtype(x)
    return total


def array_nansum(a: Any, dtype: Any) -> Any:
    """Return the sum of the elements that are not NaN."""
    total = dtype(0)
    for x in a.flat:
        if x == x:
            total += dtype(x)
    return total


def array_nanprod(a: Any, dtype: Any) -> Any:
    """Return the product of the elements that are not NaN."""
    total = dtype(1)
    for x in a.flat:
        if x == x:
            total *= dtype(x)
    return total


def array_mean(a: Any, dtype: Any) -> Any:
    """Return the mean."""
    return array_sum(a, dtype) / dtype(a.size)


def array_nanmean(a: Any, dtype: Any) -> Any:
    """Return the mean of the elements that are not NaN."""
    count = 0
    for x in a.flat:
        if x == x:
            count += 1
    return array_nansum(a, dtype) / dtype(count)


def array_var(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    """Return the variance, with the divisor ``size - ddof``."""
    mean = array_mean(a, dtype)
    total = dtype(0).real
    for x in a.flat:
        distance = dtype(x) - mean
        total += distance.real * distance.real + distance.imag * distance.imag
    return total / max(a.size - ddof, 0)


def array_std(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    """Return the standard deviation."""
    return np.sqrt(array_var(a, dtype, ddof))


def array_nanvar(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    """Return the variance of the elements that are not NaN."""
    mean = array_nanmean(a, dtype)
    total = dtype(0).real
    count = 0
    for x in a.flat:
        if x == x:
            distance = dtype(x) - mean
            total += distance.real * distance.real + distance.imag * distance.imag
            count += 1
    return total / (count - ddof) if count > ddof else total * math.nan


def array_nanstd(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    """Return the standard deviation of the elements that are not NaN."""
    return np.sqrt(array_nanvar(a, dtype, ddof))


def array_min(a: Any) -> Any:
    """Return the minimum; NaN if an element is NaN, and 0 if there is no element."""
    least = a.dtype.type(0)
    for i, x in enumerate(a.flat):
        if i == 0 or x < least or x != x:
            least = x
    return least


def array_max(a: Any) -> Any:
    """Return the maximum; NaN if an element is NaN, and 0 if there is no element."""
    greatest = a.dtype.type(0)
    for i, x in enumerate(a.flat):
        if i == 0 or x > greatest or x != x:
            greatest = x
    return greatest


def array_nanmin(a: Any) -> Any:
    """Return the minimum of the elements that are not NaN; NaN if all are."""
    least = a.dtype.type(0)
    for i, x in enumerate(a.flat):
        if i == 0 or x < least or least != least:
            least = x
    return least


def array_nanmax(a: Any) -> Any:
    """Return the maximum of the elements that are not NaN; NaN if all are."""
    greatest = a.dtype.type(0)
    for i, x in enumerate(a.flat):
        if i == 0 or x > greatest or greatest != greatest:
            greatest = x
    return greatest


def array_argmin(a: Any) -> Any:
    """Return the position of the first minimum, or of the first NaN, in C order."""
    least, position = a.dtype.type(0), 0
    for i, x in enumerate(a.flat):
        if i == 0 or x < least or (x != x and least == least):
            least, position = x, i
    return np.int64(position)


def array_argmax(a: Any) -> Any:
    """Return the position of the first maximum, or of the first NaN, in C order."""
    greatest, position = a.dtype.type(0), 0
    for i, x in enumerate(a.flat):
        if i == 0 or x > greatest or (x != x and greatest == greatest):
            greatest, position = x, i
    return np.int64(position)


def array_ptp(a: Any) -> Any:
    """Return the maximum minus the minimum."""
    return array_max(a) - array_min(a)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "all": array_all,
    "amax": array_max,
    "amin": array_min,
    "any": array_any,
    "argmax": array_argmax,
    "argmin": array_argmin,
    "count_nonzero": array_count_nonzero,
    "max": array_max,
    "mean": array_mean,
    "min": array_min,
    "nanmax": array_nanmax,
    "nanmean": array_nanmean,
    "nanmin": array_nanmin,
    "nanprod": array_nanprod,
    "nanstd": array_nanstd,
    "nansum": array_nansum,
    "nanvar": array_nanvar,
    "prod": array_prod,
    "ptp": array_ptp,
    "std": array_std,
    "sum": array_sum,
    "var": array_var,
}
"""The functions by their names in NumPy."""

METHODS = (*("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"),)
"""The names that are also methods of arrays."""
