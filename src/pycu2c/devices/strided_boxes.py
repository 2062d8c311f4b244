"""Split arrays of one shape into boxes of three axes, as which kernels access any strides."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeVar

from pycu2c.devices.array_data import ArrayData
from pycu2c.devices.view_geometry import MergedAxis, ViewGeometry
from pycu2c.runtime.arguments.strides import Shape

THREADS = 256  # of a block
_MAX_GRID_YZ = 65535

A = TypeVar("A", bound=ArrayData)


def boxes(axes: Sequence[MergedAxis], arrays: Sequence[A]) -> Iterator[list[A]]:
    """Yield views of the arrays along the last three axes, for each index of the others."""
    outer, inner = axes[:-3], axes[-3:]
    added = 3 - len(inner)
    shape = (1,) * added + tuple(axis.extent for axis in inner)
    for index in itertools.product(*(range(axis.extent) for axis in outer)):
        yield [
            array._view(
                ViewGeometry(
                    sum(i * axis.strides[k] for i, axis in zip(index, outer)),
                    shape,
                    (array.itemsize,) * added + tuple(axis.strides[k] for axis in inner),
                )
            )
            for k, array in enumerate(arrays)
        ]


def configuration(shape: Shape) -> tuple[Shape, Shape]:
    """Return grid and block for a box: threads along x as the last axis requires, then along y.

    The threads of a grid whose axes y and z are shorter than the box must loop.
    """
    x = min(THREADS, max(32, 1 << (shape[2] - 1).bit_length()))
    y = THREADS // x
    grid = -(-shape[2] // x), min(-(-shape[1] // y), _MAX_GRID_YZ), min(shape[0], _MAX_GRID_YZ)
    return grid, (x, y, 1)
