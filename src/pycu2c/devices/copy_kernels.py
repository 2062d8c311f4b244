"""Kernels that copy elements within a GPU, for any strides and numeric dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.base import dtypes
from pycu2c.devices import strided_boxes, view_geometry
from pycu2c.devices.array_data import ArrayData
from pycu2c.devices.view_geometry import MergedAxis
from pycu2c.kernels.kernel import kernel


@kernel(backend="cuda")
def copy_elements(out, data):  # type: ignore[no-untyped-def]
    x, y, z = cuda.grid(3)
    if x < out.shape[2]:
        for i in range(z, out.shape[0], cuda.gridsize(3)[2]):
            for j in range(y, out.shape[1], cuda.gridsize(3)[1]):
                out[i, j, x] = data[i, j, x]


def copy(target: ArrayData, source: ArrayData, stream: int) -> None:
    """Copy between arrays of one shape on one GPU."""
    if target.dtype == source.dtype:
        word_dtype = _word_dtype(target, source)
        target, source = _as_words(target, word_dtype), _as_words(source, word_dtype)
    for box in strided_boxes.boxes(_merged_axes(target, source), (target, source)):
        copy_elements[(*strided_boxes.configuration(box[0].shape), stream)](*box)


def can_convert(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Return whether kernels convert one dtype to another with numpy's result."""
    for dtype in (dtypes.from_numpy(source), dtypes.from_numpy(target)):
        if dtype is None or dtype.fields:
            return False
    return target.kind == "c" or source.kind != "c"


def _word_dtype(*arrays: ArrayData) -> np.dtype[Any]:
    """Return the largest unsigned integer that divides all elements, addresses and strides."""
    numbers = [n for a in arrays for n in (a.itemsize, a.address)]
    numbers += [step for a in arrays for step, n in zip(a.strides, a.shape) if n > 1]
    size = next(size for size in (8, 4, 2, 1) if not any(n % size for n in numbers))
    return np.dtype(f"u{size}")


def _as_words(array: ArrayData, word_dtype: np.dtype[Any]) -> ArrayData:
    """Return a view with elements of ``word_dtype``; the last axis counts words of an element."""
    count = array.itemsize // word_dtype.itemsize
    shape, strides = (*array.shape, count), (*array.strides, word_dtype.itemsize)
    return ArrayData(array._memory, array.address, shape, strides, word_dtype)


def _merged_axes(target: ArrayData, source: ArrayData) -> list[MergedAxis]:
    """Return as few axes as possible, in descending order of the target's strides."""
    order = sorted(range(target.ndim), key=lambda axis: -abs(target.strides[axis]))
    shape, *strides = (
        tuple(numbers[axis] for axis in order)
        for numbers in (target.shape, target.strides, source.strides)
    )
    return view_geometry.merged_axes(shape, *strides)
