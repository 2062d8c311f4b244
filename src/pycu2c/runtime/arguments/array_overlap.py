"""Check the overlap rules of a kernel: which array arguments may share memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.base.parameters import OverlapRule
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.arguments.strides import array_over

_MAX_WORK = 10_000  # of NumPy's exact test, which is exponential in the number of axes


def violated_rule(rules: Iterable[OverlapRule], leaves: Sequence[Argument]) -> OverlapRule | None:
    """Return the first rule that the arguments violate, or None."""
    for rule in rules:
        written, read = leaves[rule.written], leaves[rule.read]
        assert isinstance(written, ArrayArgument)
        assert isinstance(read, ArrayArgument)
        if rule.may_be_same and _are_same(written, read):
            continue
        if _share_memory(written, read):
            return rule
    return None


def _are_same(a: ArrayArgument, b: ArrayArgument) -> bool:
    return (a.address, a.dtype, a.shape, a.strides) == (b.address, b.dtype, b.shape, b.strides)


def _share_memory(a: ArrayArgument, b: ArrayArgument) -> bool:
    """Return whether two arrays have an element in common; True if that is too hard to tell."""
    (start, size), (other, other_size) = a.region, b.region
    if start + size <= other or other + other_size <= start:
        return False
    max_work: Any = _MAX_WORK  # NumPy's stubs lack integers
    try:
        return np.shares_memory(_bytes_of(a), _bytes_of(b), max_work=max_work)
    except np.exceptions.TooHardError:
        return True


def _bytes_of(array: ArrayArgument) -> NDArray[Any]:
    """Return the memory of an array, also of a GPU, as an array of NumPy that is never read."""
    layout = array.shape, array.strides, np.dtype(f"V{array.dtype.size}")
    return array_over(array.address, layout)
