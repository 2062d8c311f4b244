"""Copy the elements that satisfy a predicate next to each other, in one pass.

A block counts the selected elements of a tile, and receives the number in the preceding tiles
by look-back (``look_back``).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.algorithms.checks import (
    ELEMENTS,
    INDICES,
    INTEGERS,
    REALS,
    as_operation,
    check_count_dtype,
    check_result_dtype,
    check_vector,
)
from pycu2c.algorithms.look_back import prefix_of_tile
from pycu2c.algorithms.placement import place
from pycu2c.algorithms.tiles import load_tile
from pycu2c.algorithms.words import words_per_value
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.block.scan import scan_threads
from pycu2c.kernels.kernel import Kernel, device, kernel

_ON_GPU = 256, 23  # threads of a block, and items of 4 bytes of a thread
_MAX_INT32 = 2**31 - 1


@device
def is_selected(predicate: Any, item: Any, index: Any) -> Any:
    """Return whether an item is selected: by its flag in an array, or by a function."""
    if isinstance(predicate, np.ndarray):
        return bool(predicate[index])
    return bool(predicate(item))


@functools.cache
def select_kernel(
    backend: Any, threads: int, items_per_thread: int, *, keeps_others: bool
) -> Kernel[Any]:
    """Return the kernel for a back end and a shape of tiles.

    keeps_others: whether the other elements are stored from the end of the output on, backwards.
    """
    tile_size = threads * items_per_thread

    @kernel(backend=backend, launch_bounds=threads, wraparound=False)
    def select_elements(out: Any, count: Any, x: Any, predicate: Any, states: Any) -> None:
        """Store the selected elements of a tile behind those of the preceding tiles."""
        rank, tile, n = cuda.threadIdx.x, cuda.blockIdx.x, len(x)
        start = tile * tile_size
        first = start + rank * items_per_thread
        left = np.int32(min(n - first, items_per_thread))
        items = cuda.local.array(items_per_thread, x.dtype)
        flags = cuda.local.array(items_per_thread, np.bool_)
        load_tile((items,), (x,), threads, start)
        selected = count.dtype.type(0)
        for i in range(items_per_thread):
            flags[i] = i < left and is_selected(predicate, items[i], first + i)
            selected += flags[i]
        before, total = scan_threads(selected, operator.add)
        prefix = prefix_of_tile(states, tile, total, operator.add)
        prefix = prefix if tile > 0 else count.dtype.type(0)
        local = np.int32(before if rank > 0 else 0)
        if threads == 1:
            for i in range(items_per_thread):
                if flags[i]:
                    out[prefix + local] = items[i]
                    local += 1
                elif keeps_others and i < left:
                    out[n - 1 - (start + i - prefix - local)] = items[i]
        else:
            store_compacted(
                out, items, flags, threads, start, prefix, local, np.int32(total), keeps_others
            )
        if start + tile_size >= n and rank == 0:
            count[0] = prefix + total

    return select_elements


@device
def store_compacted(
    out: Any,
    items: Any,
    flags: Any,
    threads: Any,
    start: Any,
    prefix: Any,
    local: Any,
    total: Any,
    keeps_others: Any,
) -> None:
    """Sort the items of a tile by their flags in shared memory, then store them coalesced.

    prefix: the number of selected items of the preceding tiles. local: of the preceding threads of
    the tile. total: of the tile.
    """
    rank, count = cuda.threadIdx.x, len(items)
    compacted = cuda.shared.array(threads * count, items.dtype)
    for i in range(count):
        if flags[i]:
            compacted[local] = items[i]
        elif keeps_others:
            compacted[total + rank * count + i - local] = items[i]
        local += flags[i]
    cuda.syncthreads()
    for i in range(count):
        position = rank + i * threads
        if position < total:
            out[prefix + position] = compacted[position]
        elif keeps_others and start + position < len(out):
            out[len(out) - 1 - (start - prefix + position - total)] = compacted[position]


def select(
    a: Any,
    predicate: Any,
    out: Any = None,
    count: Any = None,
    stream: object = None,
) -> Any:
    """Return the elements that satisfy a predicate, in their order.

    Returns
    -------
    array
        The selected elements: a part of ``out``, or all of it if ``count`` is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.select(np.array([3, 1, 4, 1, 5]), lambda x: x > 2)
    array([3, 4, 5])
    """
    selected, counted = _select(a, predicate, out, count, stream, keeps_others=False)
    return selected if count is not None else selected[: int(counted[0])]


def partition(
    a: Any,
    predicate: Any,
    out: Any = None,
    count: Any = None,
    stream: object = None,
) -> tuple[Any, Any]:
    """Store elements that satisfy a predicate at the front, and the others at the end, backwards.

    Returns
    -------
    array, array
        The elements, and an array of their number at the front.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.partition(np.array([3, 1, 4, 2, 5]), lambda x: x > 2)
    (array([3, 4, 5, 2, 1]), array([3], dtype=int32))
    """
    return _select(a, predicate, out, count, stream, keeps_others=True)


def _select(
    a: Any, predicate: Any, out: Any, count: Any, stream: object, *, keeps_others: bool
) -> tuple[Any, Any]:
    flags = None if isinstance(predicate, Callable) else predicate  # type: ignore[arg-type]
    where, (x, flags, result, counted) = place(
        {"a": a, "predicate": flags},
        {"out": out, "count": count},
        stream,
        may_be_same=not keeps_others,
    )
    check_vector(x, "a", None, ELEMENTS, INDICES)
    size = x.shape[0]
    if flags is not None:
        check_vector(flags, "predicate", size, REALS)
    function = as_operation(predicate, 1) if flags is None else flags
    if result is None:
        result = where.empty((size,), x.dtype)
    check_vector(result, "out", size, ELEMENTS, INDICES)
    check_result_dtype(result, x.dtype)
    if counted is None:
        counted = where.empty((1,), np.int32 if size <= _MAX_INT32 else np.int64)
    check_vector(counted, "count", 1, INTEGERS)
    check_count_dtype(counted, "count", size)
    if not size:
        where.fill(counted, 0)
        return result, counted
    threads, items = where.tile_shape(_ON_GPU, x.dtype.itemsize)
    tiles = -(-size // (threads * items))
    states = where.zeros((tiles, words_per_value([counted])), "u8")
    launch = select_kernel(where.backend, threads, items, keeps_others=keeps_others)
    launch[tiles, threads, stream](result, counted, x, function, states)
    return result, counted


document_parameters(
    globals(),
    """
a : array | An array of one axis.
predicate : callable or array | A function of an element, or an array of a flag of each element.
out : array | An array of the same length for the elements; by default a new one. That of
  ``select`` may be ``a``.
count : array | An integer array of one element for the number of selected elements. With it, the
  call does not wait for the device.
stream : Stream or int | The stream of the launches.
""",
)
