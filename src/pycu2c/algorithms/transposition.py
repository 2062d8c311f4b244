"""Transpose a matrix: blocks exchange square tiles in shared memory.

So loads and stores are coalesced. See Harris, "An efficient matrix transpose in CUDA C/C++" (2013).
"""

from __future__ import annotations

import functools
from typing import Any

from pycu2c import cuda
from pycu2c.algorithms.checks import check_axes, check_result_dtype
from pycu2c.algorithms.placement import place
from pycu2c.kernels.kernel import Kernel, kernel

_TILE, _ROWS = 32, 8  # rows and columns of a tile, and rows of threads


@functools.cache
def transpose_kernel(backend: Any) -> Kernel[Any]:
    """Return the kernel for a back end."""

    @kernel(backend=backend, launch_bounds=_TILE * _ROWS, wraparound=False)
    def transpose_tiles(out: Any, x: Any) -> None:
        """Transpose a tile; its rows have a gap, so that columns use different banks."""
        shared = cuda.shared.array((_TILE, _TILE + 1), x.dtype)
        items = cuda.local.array(_TILE // _ROWS, x.dtype)
        rows, columns = x.shape
        tiles = (columns + _TILE - 1) // _TILE
        top, left = cuda.blockIdx.x // tiles * _TILE, cuda.blockIdx.x % tiles * _TILE
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        for k in range(len(items)):  # loads without a condition overlap
            items[k] = x[min(top + i + k * _ROWS, rows - 1), min(left + j, columns - 1)]
        for k in range(len(items)):
            shared[i + k * _ROWS, j] = items[k]
        cuda.syncthreads()
        for k in range(len(items)):
            row = i + k * _ROWS
            if left + row < columns and top + j < rows:
                out[left + row, top + j] = shared[j, row]

    return transpose_tiles


def transpose(a: Any, out: Any = None, stream: object = None) -> Any:
    """Return a copy of a matrix with its axes exchanged.

    Parameters
    ----------
    a : array
        An array of two axes.
    out : array
        The array for the result, which does not overlap ``a``; by default a new one.
    stream : Stream or int
        The stream of the launch.

    Returns
    -------
    array
        The transposed matrix, ``out`` if it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.transpose(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    where, (x, result) = place({"a": a}, {"out": out}, stream)
    check_axes(x, "a", 2)
    rows, columns = x.shape
    if result is None:
        result = where.empty((columns, rows), x.dtype)
    elif result.shape != (columns, rows):
        raise ValueError(f"out has the shape {columns, rows}, not {result.shape}")
    check_result_dtype(result, x.dtype)
    if rows and columns:
        tiles = -(-rows // _TILE) * -(-columns // _TILE)
        transpose_kernel(where.backend)[tiles, (_TILE, _ROWS), stream](result, x)
    return result if out is None else out
