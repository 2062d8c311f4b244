"""Launch a kernel for each chunk of Dask arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import dask.array as da
import numpy as np
from numpy.typing import DTypeLike

Extents: TypeAlias = "int | tuple[int, ...]"
Depth: TypeAlias = "int | tuple[int, ...] | Mapping[int, int]"


def map_blocks(
    kernel: Any,
    *arguments: Any,
    grid: Extents | Callable[[tuple[int, ...]], Extents] | None = None,
    block: Extents | None = None,
    dtype: DTypeLike | None = None,
    **options: Any,
) -> Any:
    """Launch a kernel for each chunk of Dask arrays; its last argument is the chunk of the result.

    The kernel is launched where the chunks are, in the processes and threads of the scheduler.

    Parameters
    ----------
    kernel : Kernel
        A kernel that writes its last parameter: an array of the shape of the first chunk, filled
        with zeros. It does not write the others.
    *arguments : dask.array.Array or object
        The arguments before the last one. Chunks of Dask arrays correspond by their positions.
    grid : int, tuple of int or callable, optional
        The blocks of the grid, or a function of the shape of a chunk that returns them; by default
        the declared or inferred one.
    block : int or tuple of int, optional
        The threads of a block; by default the declared one.
    dtype : dtype_like, optional
        The dtype of the result; by default that of the first array.
    **options : object
        Options of ``dask.array.map_blocks``, such as ``name``.

    Returns
    -------
    dask.array.Array
        The result, with the chunks of the first array.

    Raises
    ------
    TypeError
        If no argument is a Dask array.

    Examples
    --------
    >>> import dask.array as da
    >>> from pycu2c import cuda, kernel
    >>> from pycu2c.dask import map_blocks
    >>> @kernel(block=128)
    ... def scale(a, factor, out):
    ...     i = cuda.grid(1)
    ...     if i < len(out):
    ...         out[i] = a[i] * factor
    >>> x = map_blocks(scale, da.ones(1000, chunks=300), 2.0)
    >>> float(x.sum())
    2000.0
    """
    launch, arrays, meta = _chunk_launch(kernel, arguments, grid, block, dtype)
    return da.map_blocks(launch, *arrays, dtype=meta.dtype, meta=meta, **options)


def map_overlap(
    kernel: Any,
    *arguments: Any,
    depth: Depth,
    grid: Extents | Callable[[tuple[int, ...]], Extents] | None = None,
    block: Extents | None = None,
    dtype: DTypeLike | None = None,
    boundary: object = "none",
    **options: Any,
) -> Any:
    """Launch a kernel for each chunk of Dask arrays with the adjacent elements of its neighbours.

    Parameters
    ----------
    kernel : Kernel
        As for ``map_blocks``. The chunks contain ``depth`` more elements at each side with a
        neighbour; these are removed from the result.
    *arguments : dask.array.Array or object
        As for ``map_blocks``.
    depth : int, tuple of int or dict
        The elements of neighbours at each side, along each axis.
    grid, block, dtype : object, optional
        As for ``map_blocks``.
    boundary : str, number or dict, optional
        The elements outside of the array: "none", "reflect", "periodic", "nearest" or a number.
    **options : object
        Options of ``dask.array.map_overlap``, such as ``allow_rechunk``.

    Returns
    -------
    dask.array.Array
        The result, with the chunks of the first array.

    Raises
    ------
    TypeError
        If no argument is a Dask array.
    """
    launch, arrays, meta = _chunk_launch(kernel, arguments, grid, block, dtype)
    return da.map_overlap(
        launch, *arrays, depth=depth, boundary=boundary, dtype=meta.dtype, meta=meta, **options
    )


class _ChunkLaunch:
    """A launch for one chunk of each array; ``arguments`` has None in their places."""

    def __init__(
        self,
        kernel: Any,
        arguments: tuple[Any, ...],
        positions: tuple[int, ...],
        grid: object,
        block: object,
        dtype: np.dtype[Any],
    ) -> None:
        self._kernel, self._arguments, self._positions = kernel, arguments, positions
        self._grid, self._block, self._dtype = grid, block, dtype
        self.__name__ = kernel.name  # dask shows it in the names of tasks

    def __call__(self, *chunks: Any) -> Any:
        values = list(self._arguments)
        for position, chunk in zip(self._positions, chunks):
            values[position] = chunk
        result = np.zeros_like(chunks[0], dtype=self._dtype)  # a CuPy array for CuPy chunks
        if result.size:
            self._configured(result.shape)(*values, result)
        return result

    def _configured(self, shape: tuple[int, ...]) -> Any:
        if self._grid is None:
            return self._kernel
        grid = self._grid(shape) if callable(self._grid) else self._grid
        return self._kernel[(grid,) if self._block is None else (grid, self._block)]


def _chunk_launch(
    kernel: Any, arguments: tuple[Any, ...], grid: object, block: object, dtype: DTypeLike | None
) -> tuple[_ChunkLaunch, list[Any], Any]:
    """Return the launch, the arrays, and an empty array like the result."""
    positions = tuple(i for i, a in enumerate(arguments) if isinstance(a, da.Array))
    if not positions:
        raise TypeError(f"{kernel.name} has no Dask array among its arguments")
    arrays = [arguments[i] for i in positions]
    meta = np.zeros_like(arrays[0]._meta, dtype=arrays[0].dtype if dtype is None else dtype)
    others = tuple(None if i in positions else a for i, a in enumerate(arguments))
    return _ChunkLaunch(kernel, others, positions, grid, block, meta.dtype), arrays, meta
