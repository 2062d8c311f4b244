"""Compute memory layouts and result dtypes of arrays."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from pycu2c.runtime.arguments.strides import is_contiguous


class Flags(NamedTuple):
    """The value of ``array.flags``."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def c_contiguous(self) -> bool:
        """Return whether the array is contiguous in C order."""
        return is_contiguous(self.shape, self.strides, self.itemsize)

    @property
    def f_contiguous(self) -> bool:
        """Return whether the array is contiguous in Fortran order."""
        return is_contiguous(self.shape, self.strides, self.itemsize, "F")

    @property
    def forc(self) -> bool:
        """Return whether the array is contiguous in either order."""
        return self.c_contiguous or self.f_contiguous


def is_number(value: object) -> bool:
    """Return whether a value is a Python or numpy number."""
    return isinstance(value, (numbers.Number, np.generic)) or (
        isinstance(value, np.ndarray) and value.shape == ()
    )


def common_dtype(x: Any, y: Any) -> np.dtype[Any]:
    """Return the result dtype of two arrays, or of an array and a number."""
    return np.result_type(*(getattr(operand, "dtype", operand) for operand in (x, y)))


def quotient_dtype(x: Any, y: Any) -> np.dtype[Any]:
    """Return the result dtype of a division; float64 for integers."""
    dtype = common_dtype(x, y)
    return np.dtype(np.float64) if dtype.kind in "iub" else dtype
