"""Copies of elements by kernels of this package: any strides, any two types of numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.base import dtypes
from pycu2c.devices import view_geometry
from pycu2c.devices.array import DeviceArray
from pycu2c.kernels.kernel import kernel
from pycu2c.runtime.arguments.strides import Shape

_THREADS = 256
_MOST_BLOCKS = 65535  # along y and z


@kernel(backend="cuda")
def copy_elements(out, data):  # type: ignore[no-untyped-def]
    x, y, z = cuda.grid(3)
    if x < out.shape[2]:
        for i in range(z, out.shape[0], cuda.gridsize(3)[2]):
            for j in range(y, out.shape[1], cuda.gridsize(3)[1]):
                out[i, j, x] = data[i, j, x]


def copy(target: DeviceArray, source: DeviceArray, stream: int) -> None:
    """``target[...] = source`` of arrays of one shape on one GPU."""
    if target.dtype == source.dtype:
        raw = _raw(target, source)
        target, source = _as(target, raw), _as(source, raw)
    axes = _by_distance(target, source)
    inner, outer = axes[-3:], axes[:-3]
    shape = tuple(extent for extent, _ in inner)
    shape = (1,) * (3 - len(shape)) + shape
    launch = copy_elements[_grid(shape), _block(shape), stream]
    for to, start in _starts(outer):
        launch(_box(target, to, shape, inner, 0), _box(source, start, shape, inner, 1))


def _raw(*arrays: DeviceArray) -> np.dtype[Any]:
    """What elements are made of and copied by without a look at them: as large as it can be."""
    for size in (8, 4, 2):
        if not any(
            n % size for a in arrays for n in (a.itemsize, a.address, *_strides_that_count(a))
        ):
            return np.dtype(f"u{size}")
    return np.dtype(np.uint8)


def _strides_that_count(array: DeviceArray) -> list[int]:
    return [step for step, extent in zip(array.strides, array.shape) if extent > 1]


def _as(array: DeviceArray, raw: np.dtype[Any]) -> DeviceArray:
    """The array with elements of ``raw``, in an axis more if it takes several of them."""
    count = array.itemsize // raw.itemsize
    shape, strides = (*array.shape, count), (*array.strides, raw.itemsize)
    return DeviceArray(array._memory, array.address, shape, strides, raw)


def _by_distance(target: DeviceArray, source: DeviceArray) -> list[tuple[int, Shape]]:
    """The axes, those of near elements of the target last, as few as they can be."""
    order = sorted(range(target.ndim), key=lambda axis: -abs(target.strides[axis]))
    shape, to, start = (
        tuple(part[axis] for axis in order)
        for part in (target.shape, target.strides, source.strides)
    )
    return view_geometry.joined(shape, (to, start))


def _starts(outer: list[tuple[int, Shape]]) -> Iterator[tuple[int, int]]:
    """How far from the first element of each array the boxes begin, in bytes."""
    for place in itertools.product(*(range(extent) for extent, _ in outer)):
        yield (
            sum(i * steps[0] for i, (_, steps) in zip(place, outer)),
            sum(i * steps[1] for i, (_, steps) in zip(place, outer)),
        )


def _box(
    array: DeviceArray, start: int, shape: Shape, inner: list[tuple[int, Shape]], which: int
) -> DeviceArray:
    strides = tuple(steps[which] for _, steps in inner)
    strides = (array.itemsize,) * (3 - len(strides)) + strides
    return DeviceArray(array._memory, array.address + start, shape, strides, array.dtype)


def _block(shape: Shape) -> Shape:
    """Threads along the axis of near elements, the others along the next."""
    x = min(_THREADS, max(32, 1 << (shape[2] - 1).bit_length()))
    return x, _THREADS // x, 1


def _grid(shape: Shape) -> Shape:
    x, y, _ = _block(shape)
    return -(-shape[2] // x), min(-(-shape[1] // y), _MOST_BLOCKS), min(shape[0], _MOST_BLOCKS)


def can_convert(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether kernels convert numbers of one type to another as numpy does."""
    rows = dtypes.from_numpy(source), dtypes.from_numpy(target)
    if any(row is None or row.fields for row in rows):
        return False
    return target.kind == "c" or source.kind != "c"
