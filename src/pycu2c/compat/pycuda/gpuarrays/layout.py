"""How arrays lie in memory, and of what type results are. Knows no device."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from pycu2c.base.records import NamedTuple
from pycu2c.runtime.arguments.strides import is_contiguous


class Flags(NamedTuple):
    """What ``array.flags`` tells."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def c_contiguous(self) -> bool:
        """Whether elements lie in C's order, without gaps."""
        return is_contiguous(self.shape, self.strides, self.itemsize)

    @property
    def f_contiguous(self) -> bool:
        """Whether elements lie in Fortran's order, without gaps."""
        return is_contiguous(self.shape, self.strides, self.itemsize, "F")

    @property
    def forc(self) -> bool:
        """Whether they lie in one order or the other."""
        return self.c_contiguous or self.f_contiguous


def compact_strides(array: Any) -> tuple[int, ...]:
    """Strides without gaps, with the axes in the order of another array's."""
    steps, step = [0] * len(array.shape), array.dtype.itemsize
    found = sorted(range(len(array.shape)), key=lambda a: (abs(array.strides[a]), -a))
    for axis in found:
        steps[axis] = step
        step *= max(array.shape[axis], 1)
    return tuple(steps)


def is_number(given: object) -> bool:
    """Whether it is one number, of Python's or numpy's."""
    return isinstance(given, (numbers.Number, np.generic)) or (
        isinstance(given, np.ndarray) and given.shape == ()
    )


def common_dtype(x: Any, y: Any) -> np.dtype[Any]:
    """The type of what is computed of two arrays, or of an array and a number."""
    return np.result_type(*(getattr(each, "dtype", each) for each in (x, y)))


def quotient_dtype(x: Any, y: Any) -> np.dtype[Any]:
    """Likewise of what is divided: of integers that is float64."""
    found = common_dtype(x, y)
    return np.dtype(np.float64) if found.kind in "iub" else found
