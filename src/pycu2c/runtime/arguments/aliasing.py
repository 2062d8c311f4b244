"""Detect overlapping arrays among the arguments of a launch."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument


def is_unaliased(position: int, leaves: Sequence[Argument]) -> bool:
    """Return whether no other array of a launch overlaps this one."""
    array = leaves[position]
    assert isinstance(array, ArrayArgument)
    first, end = _byte_range(array)
    others = (a for i, a in enumerate(leaves) if i != position and isinstance(a, ArrayArgument))
    return all(end <= low or high <= first for low, high in map(_byte_range, others))


def _byte_range(array: ArrayArgument) -> tuple[int, int]:
    """Return the addresses of the first byte and after the last; equal for an empty array."""
    if array.contiguous or not array.size:
        return array.address, array.address + array.size * array.dtype.size
    low = high = array.address
    for length, stride in zip(array.shape, array.strides):
        reach = (length - 1) * stride
        low, high = (low + reach, high) if stride < 0 else (low, high + reach)
    return low, high + array.dtype.size
