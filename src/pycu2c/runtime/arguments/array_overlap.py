"""Check the overlap rules of a kernel: which array arguments may share memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycu2c.base.parameters import OverlapRule
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument

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
    memory, other_memory = np.asarray(_Memory(a)), np.asarray(_Memory(b))
    max_work: Any = _MAX_WORK  # NumPy's stubs lack integers
    try:
        return np.shares_memory(memory, other_memory, max_work=max_work)
    except np.exceptions.TooHardError:
        return True


class _Memory:
    """The memory of an array, also of a GPU, as an array of NumPy that is never read."""

    def __init__(self, array: ArrayArgument) -> None:
        self.__array_interface__ = {
            "data": (array.address, True),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.dtype.size}",
            "version": 3,
        }
