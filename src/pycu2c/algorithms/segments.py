"""Reduce segments of an array, and multiply sparse matrices by vectors, balanced by merge paths.

The ends of the segments and the indices of the items are one merged list, of which each thread
processes an equal part. At an item, it combines a value; at an end, it stores the value of the
segment. So many threads share a long segment, and one thread has many short ones. Values of
segments that continue are passed on by a scan in the block; a last launch adds those of the
preceding tiles. See Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication"
(2016).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.algorithms.checks import (
    INTEGERS,
    as_operation,
    check_result_dtype,
    check_vector,
    typed_value,
)
from pycu2c.algorithms.placement import CallPlacement, place
from pycu2c.algorithms.words import load_words, store_words, words_per_value
from pycu2c.base import dtypes
from pycu2c.base.types import Scalar, promote
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.block.scan import scan_threads
from pycu2c.device_library.warp import ALL_LANES, WARP_SIZE, inclusive_scan
from pycu2c.kernels.kernel import Kernel, device, kernel

# threads of a block, and entries of the merged list of a thread: odd, so that threads use different
# banks of shared memory
_ON_GPU, _PRODUCTS_ON_GPU = (256, 15), (256, 7)  # of elements, and of products
_THREADS = 128  # of the other launches
_PARTS = 8  # of a long segment, whose operations are independent of each other
_OFFSET_DTYPES = np.int32, np.uint32, np.int64  # which the kernels compute with


@device
def ends_before(ends: Any, diagonal: Any, segments: Any, items: Any) -> Any:
    """Return how many of the first ``diagonal`` entries of the merged list are ends."""
    low, high = max(diagonal - items, 0), min(diagonal, segments)
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < diagonal - middle:
            low = middle + 1
        else:
            high = middle
    return low


@device
def load_item(sources: Any, index: Any, like: Any) -> Any:
    """Return an item of the type of ``like``.

    It is an element, or the product of an element of a matrix and one of a vector.
    """
    if len(sources) == 1:
        return like.dtype.type(sources[0][index])
    data, indices, x = sources
    return like.dtype.type(data[index] * x[indices[index]])


@device
def reduce_items(sources: Any, first: Any, last: Any, value: Any, op: Any) -> Any:
    """Combine a value with items: many items in parts, whose operations can overlap."""
    length = (last - first) // _PARTS
    if length > 1:
        parts = cuda.local.array(_PARTS, value.dtype)
        for k in range(_PARTS):
            parts[k] = load_item(sources, first + k * length, value)
        for i in range(1, length):
            for k in range(_PARTS):
                parts[k] = op(parts[k], load_item(sources, first + k * length + i, value))
        for k in range(_PARTS):
            value = op(value, parts[k])
        first += _PARTS * length
    for i in range(first, last):
        value = op(value, load_item(sources, i, value))
    return value


@functools.cache
def search_kernel(backend: Any, tile_size: int) -> Kernel[Any]:
    """Return the kernel that finds the first segment of each tile."""

    @kernel(backend=backend, launch_bounds=_THREADS, wraparound=False)
    def find_tiles(starts: Any, offsets: Any, items: Any) -> None:
        i, segments = cuda.grid(1), len(offsets) - 1
        if i < len(starts):
            diagonal = min(i * tile_size, segments + items)
            starts[i] = ends_before(offsets[1:], diagonal, segments, items)

    return find_tiles


@functools.cache
def carry_kernel(backend: Any) -> Kernel[Any]:
    """Return the kernel that adds the values of preceding tiles to the first end of each tile."""

    @kernel(backend=backend, launch_bounds=_THREADS, wraparound=False)
    def add_carries(out: Any, carries: Any, starts: Any, op: Any) -> None:

        def combine(a: Any, b: Any) -> Any:
            return b[0], out.dtype.type(op(a[1], b[1])) if a[0] == b[0] else b[1]

        def scan_carries(tile: Any) -> Any:
            return inclusive_scan((starts[tile], carries[tile - 1]), combine)

        tile = 1 + cuda.grid(1)  # continues a segment, with the value of the tiles of this warp
        carry = scan_carries(min(tile, len(carries) - 1))
        ends = tile < len(carries) and starts[tile] < starts[tile + 1]
        first = tile - cuda.laneid
        while cuda.any_sync(ALL_LANES, ends and first > 1 and starts[first - 1] == carry[0]):
            first -= WARP_SIZE  # the segment began before these tiles
            before = scan_carries(first + cuda.laneid)
            carry = combine(cuda.shfl_sync(ALL_LANES, before, WARP_SIZE - 1), carry)
        if ends:
            out[carry[0]] = combine(carry, (carry[0], out[carry[0]]))[1]

    return add_carries


@functools.cache
def segments_kernel(
    backend: Any, threads: int, items_per_thread: int, entry_words: int
) -> Kernel[Any]:
    """Return the kernel for a back end and a shape of tiles.

    entry_words: words of 32 bits for an entry of the merged list: an end or a value.
    """
    size = threads * items_per_thread

    @kernel(backend=backend, launch_bounds=threads, wraparound=False)
    def reduce_segments(
        out: Any, offsets: Any, sources: Any, starts: Any, carries: Any, op: Any, initial: Any
    ) -> None:
        """Reduce a tile of the merged list of ends and items."""

        def combine(a: Any, b: Any) -> Any:
            return out.dtype.type(op(a, b))

        def combine_parts(a: Any, b: Any) -> Any:
            return b[0], combine(a[1], b[1]) if a[0] == b[0] else b[1]

        rank, tile = cuda.threadIdx.x, cuda.blockIdx.x
        first = starts[tile]
        segments = np.int32(starts[tile + 1] - first)  # that end in the tile
        first_item = tile * size - first
        count = np.int32(min(size, len(out) + len(sources[0]) - tile * size) - segments)
        last_item = max(first_item + count - 1, 0)
        entries = cuda.shared.array(entry_words * (size + items_per_thread + 1), np.int32)
        values = segments + 1  # the index of the first item in the memory of the merged list
        results = cuda.shared.array(size, out.dtype)
        items = cuda.local.array(items_per_thread, out.dtype)
        if threads > 1:
            for i in range(items_per_thread):  # loads without a condition overlap
                index = min(first_item + rank + i * threads, last_item)
                items[i] = load_item(sources, index, initial)
            for i in range(items_per_thread):
                if rank + i * threads < count:
                    store_words(entries, values + rank + i * threads, items[i])
            for i in range(rank, items_per_thread, threads):
                store_words(entries, values + count + i, initial)
        for i in range(rank, segments + 1, threads):
            entries[i] = offsets[first + 1 + i] - first_item if i < segments else 2 * size
        cuda.syncthreads()
        diagonal = min(rank * items_per_thread, segments + count)
        first_segment = ends_before(entries, diagonal, segments, count)
        segment, item, value = first_segment, diagonal - first_segment, initial
        if threads == 1:
            item = first_item
            for segment in range(segments):
                end = first_item + entries[segment]
                results[segment] = reduce_items(sources, item, end, value, combine)
                item, value = end, initial
            value = reduce_items(sources, item, first_item + count, value, combine)
            segment = segments
        elif cuda.any_sync(ALL_LANES, entries[segment] < item + items_per_thread):
            end = entries[segment]
            for _ in range(items_per_thread):
                if end <= item:
                    results[segment] = value
                    segment, value = segment + 1, initial
                    end = entries[segment]
                else:
                    value = combine(value, load_words(entries, values + item, initial))
                    item += 1
        else:  # no segment ends in this warp
            for i in range(items_per_thread):
                value = combine(value, load_words(entries, values + item + i, initial))
        before, total = scan_threads((segment, value), combine_parts)
        if rank > 0 and segment > first_segment and before[0] == first_segment:
            results[first_segment] = combine(before[1], results[first_segment])
        if rank == 0:
            carries[tile] = total[1]
        cuda.syncthreads()
        for i in range(rank, segments, threads):
            out[first + i] = results[i]

    return reduce_segments


def segmented_reduce(
    a: Any,
    offsets: Any,
    op: Callable[..., Any] = operator.add,
    initial: Any = 0,
    out: Any = None,
    stream: object = None,
) -> Any:
    """Combine the elements of each segment: ``out[i] = a[offsets[i]] + … + a[offsets[i + 1] - 1]``.

    Returns
    -------
    array
        The values of the segments, ``out`` if it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.segmented_reduce(np.array([3, 1, 4, 1]), np.array([0, 3, 3, 4]))
    array([8, 0, 1])
    """
    where, (a, offsets, result) = place({"a": a, "offsets": offsets}, {"out": out}, stream)
    check_vector(a, "a")
    _check_offsets(offsets, "offsets", a.shape[0])
    result = _reduce(where, (a,), offsets, result, a.dtype, op, initial)
    return result if out is None else out


def spmv(
    data: Any, indices: Any, indptr: Any, x: Any, out: Any = None, stream: object = None
) -> Any:
    """Multiply a sparse matrix by a vector.

    The matrix is in the CSR format, as ``scipy.sparse.csr_array`` has it.

    Returns
    -------
    array
        The product, ``out`` if it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> data, indices, indptr = np.array([3.0, 1, 4]), np.array([0, 1, 1]), np.array([0, 2, 2, 3])
    >>> algorithms.spmv(data, indices, indptr, np.array([1.0, 10]))
    array([13.,  0., 40.])
    """
    arrays = {"data": data, "indices": indices, "indptr": indptr, "x": x}
    where, (data, indices, indptr, x, result) = place(arrays, {"out": out}, stream)
    check_vector(data, "data")
    check_vector(indices, "indices", data.shape[0], INTEGERS)
    check_vector(x, "x")
    _check_offsets(indptr, "indptr", data.shape[0])
    dtype = _product_dtype(data.dtype, x.dtype)
    result = _reduce(where, (data, indices, x), indptr, result, dtype, operator.add, 0)
    return result if out is None else out


def _product_dtype(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    found = [dtypes.from_numpy(dtype) for dtype in (a, b)]
    return promote(*(Scalar(dtype) for dtype in found if dtype is not None)).dtype.numpy


def _check_offsets(offsets: Any, name: str, items: int) -> None:
    """Raise an error for offsets that are not those of segments of ``items``.

    Offsets on a GPU are not read.
    """
    check_vector(offsets, name, None, INTEGERS)
    if offsets.dtype not in _OFFSET_DTYPES:
        raise TypeError(
            f"{name} is an array of int32, uint32 or int64, not of {offsets.dtype}: "
            f"pass {name}.astype(numpy.int64)"
        )
    if not offsets.shape[0]:
        raise ValueError(f"{name} has the start of each segment and the end of the last one")
    if not isinstance(offsets, np.ndarray):
        return
    first, last = offsets[0], offsets[-1]
    if first != 0:
        raise ValueError(
            f"{name} starts at {first}, not 0: "
            f"pass the elements from {first} on, and {name} - {first}"
        )
    if last > items:
        raise ValueError(f"{name} ends at {last}, beyond the {items} elements")
    descents = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(descents):
        i = descents[0]
        raise ValueError(
            f"{name} descends from {offsets[i]} to {offsets[i + 1]} at index {i + 1}: "
            "each segment ends where the next one starts"
        )


def _reduce(
    where: CallPlacement,
    sources: tuple[Any, ...],
    offsets: Any,
    result: Any,
    dtype: np.dtype[Any],
    op: Callable[..., Any],
    initial: Any,
) -> Any:
    count, segments = sources[0].shape[0], offsets.shape[0] - 1
    if result is None:
        result = where.empty((segments,), dtype)
    check_vector(result, "out", segments)
    check_result_dtype(result, dtype)
    start, function = typed_value(initial, [result]), as_operation(op)
    if not segments or not count:
        where.fill(result, start)
        return result
    item_size = max(result.dtype.itemsize, 4) * (1 if where.is_gpu else 2)  # two arrays are shared
    shape = _ON_GPU if len(sources) == 1 else _PRODUCTS_ON_GPU
    threads, items = where.tile_shape(shape, item_size)
    tiles = -(-(segments + count) // (threads * items))
    starts = where.empty((tiles + 1,), offsets.dtype)
    carries = where.empty((tiles,), result.dtype)
    search = search_kernel(where.backend, threads * items)
    search[-(-(tiles + 1) // _THREADS), _THREADS, where.stream](starts, offsets, count)
    entry_words = words_per_value([result])
    launch = segments_kernel(where.backend, threads, items, entry_words)[
        tiles, threads, where.stream
    ]
    launch(result, offsets, sources, starts, carries, function, start)
    if tiles > 1:
        blocks = -(-(tiles - 1) // _THREADS)
        carry_kernel(where.backend)[blocks, _THREADS, where.stream](
            result, carries, starts, function
        )
    return result


document_parameters(
    globals(),
    """
a : array | An array of one axis.
offsets : array | The indices of the first element of each segment, in order, from 0, and then the
  length of ``a``; of int32, uint32 or int64.
op : callable | An associative function of two values: ``operator.add``, ``max``, or a Python
  function that kernels can call.
initial : number | The identity of ``op``, which is the value of empty segments.
data : array | The elements, row by row.
indices : array | The column of each element. Columns beyond ``x`` are found by checked runs only:
  set ``PYCU2C_CHECK=memory``.
indptr : array | The index of the first element of each row, and then the number of elements; of
  int32, uint32 or int64.
x : array | The vector.
out : array | The array for the result; its dtype is that of the values. By default a new array with
  the dtype of ``a``.
spmv.out : array | The array for the result; its dtype is that of the sums. By default a new array
  with the dtype of the products.
stream : Stream or int | The stream of the launches.
""",
)
