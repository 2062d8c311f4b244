"""Which arrays of a launch share memory with others."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument


def alone(position: int, leaves: Sequence[Argument]) -> bool:
    """Whether no other array of a launch has bytes of this one."""
    array = leaves[position]
    assert isinstance(array, ArrayArgument)
    first, end = _extent(array)
    others = (a for i, a in enumerate(leaves) if i != position and isinstance(a, ArrayArgument))
    return all(end <= low or high <= first for low, high in map(_extent, others))


def _extent(array: ArrayArgument) -> tuple[int, int]:
    """The addresses of its first byte, and after its last; of no bytes, twice the same."""
    if array.contiguous or not array.size:
        return array.address, array.address + array.size * array.dtype.size
    low = high = array.address
    for length, stride in zip(array.shape, array.strides):
        reach = (length - 1) * stride
        low, high = (low + reach, high) if stride < 0 else (low, high + reach)
    return low, high + array.dtype.size
