"""Where the elements of arrays lie, counted in bytes; and numpy arrays over memory of others."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = tuple[int, ...]


def packed_strides(shape: Shape, itemsize: int, order: str = "C") -> Shape:
    """The strides of an array without gaps."""
    axes = shape if order == "F" else shape[::-1]
    steps, step = [], itemsize
    for extent in axes:
        steps.append(step)
        step *= extent or 1
    return tuple(steps if order == "F" else steps[::-1])


def is_contiguous(shape: Shape, strides: Shape, itemsize: int, order: str = "C") -> bool:
    """Whether elements lie in order, without gaps."""
    axes = range(len(shape)) if order == "F" else range(len(shape) - 1, -1, -1)
    for axis in axes:
        extent = shape[axis]
        if extent != 1 and strides[axis] != itemsize:
            return 0 in shape
        itemsize *= extent
    return True


class _Place:
    """What numpy makes an array of. It keeps the memory; launches look here for what it is."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, interface: dict[str, Any], memory: object) -> None:
        self.__array_interface__, self.memory = interface, memory


def array_over(
    address: int,
    form: tuple[Shape, Shape, np.dtype[Any]],
    *,
    writeable: bool = True,
    memory: object = None,
) -> NDArray[Any]:
    """A numpy array of a shape, strides and dtype over memory, which it keeps."""
    shape, strides, dtype = form
    interface = {
        "shape": shape,
        "strides": strides,
        "typestr": f"|V{dtype.itemsize}",
        "data": (address or 256, not writeable),  # numpy makes memory of its own for address 0
        "version": 3,
    }
    return np.asarray(_Place(interface, memory)).view(dtype)


def memory_of(array: object) -> object:
    """The memory that ``array_over`` was given for this array, or for one that it is a view of."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array.memory if isinstance(array, _Place) else None
