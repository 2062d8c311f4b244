"""Compute strides in bytes, and create numpy arrays over external memory."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = tuple[int, ...]


def packed_strides(shape: Shape, itemsize: int, order: str = "C") -> Shape:
    """Return the strides of a contiguous array."""
    axes = shape if order == "F" else shape[::-1]
    strides, stride = [], itemsize
    for extent in axes:
        strides.append(stride)
        stride *= extent or 1
    return tuple(strides if order == "F" else strides[::-1])


def is_contiguous(shape: Shape, strides: Shape, itemsize: int, order: str = "C") -> bool:
    """Return whether an array is contiguous."""
    axes = range(len(shape)) if order == "F" else range(len(shape) - 1, -1, -1)
    expected_stride = itemsize
    for axis in axes:
        extent = shape[axis]
        if extent != 1 and strides[axis] != expected_stride:
            return 0 in shape
        expected_stride *= extent
    return True


class _ArrayView:
    """The base object of ``array_over``: has the array interface and keeps the memory alive."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, interface: dict[str, Any], memory: object) -> None:
        self.__array_interface__, self.memory = interface, memory


def array_over(
    address: int,
    layout: tuple[Shape, Shape, np.dtype[Any]],
    *,
    writeable: bool = True,
    memory: object = None,
) -> NDArray[Any]:
    """Return a numpy array over memory; ``layout`` is its shape, strides and dtype."""
    shape, strides, dtype = layout
    interface = {
        "shape": shape,
        "strides": strides,
        "typestr": f"|V{dtype.itemsize}",
        "data": (address or 256, not writeable),  # numpy would allocate memory for address 0
        "version": 3,
    }
    return np.asarray(_ArrayView(interface, memory)).view(dtype)


def bytes_at(address: int, size: int) -> NDArray[Any]:
    """Return bytes of host memory as an array."""
    return array_over(address, ((size,), (1,), np.dtype(np.uint8)))


def memory_of(array: object) -> object:
    """Return the ``memory`` argument of ``array_over`` for an array or a view of one."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array.memory if isinstance(array, _ArrayView) else None
