"""Count the values of an array: blocks count in shared memory, then add to the result.

Lanes of a warp that count one value at the same time would wait for each other. So a block has
several copies of the counts, where they fit in shared memory: up to one for each lane, in its own
bank. See Shams and Kennedy, "Efficient histogram algorithms for NVIDIA CUDA compatible devices"
(2007).
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.algorithms.checks import INTEGERS, INTEGRAL, check_count_dtype, check_vector
from pycu2c.algorithms.placement import CallPlacement, place
from pycu2c.device_library.warp import WARP_SIZE
from pycu2c.kernels.kernel import Kernel, kernel

_THREADS, _UNROLL = 512, 4
_MAX_BLOCKS, _MAX_BLOCKS_ON_CPU = 528, 16
_SHARED_COUNTS = 48 * 1024 // 4
_WORD = np.dtype(np.uint64)  # of several elements, which a thread loads at once


@functools.cache
def histogram_kernel(backend: Any, threads: int, bins: int, dtype: Any) -> Kernel[Any]:
    """Return the kernel for a number of bins and for elements of a dtype, or words of these."""
    copies = min(WARP_SIZE, threads, _SHARED_COUNTS // bins)
    unroll = _UNROLL if threads > 1 else 1

    @kernel(backend=backend, launch_bounds=threads, wraparound=False)
    def count_values(counts: Any, x: Any) -> None:
        """Count the elements of the block in shared memory; then add them to the counts."""
        shared = cuda.shared.array(max(bins * copies, 1), np.uint32)
        rank, step = cuda.threadIdx.x, cuda.gridsize(1)
        items = cuda.local.array(unroll, x.dtype)
        for i in range(rank, bins * copies, threads):
            shared[i] = 0
        cuda.syncthreads()
        for first in range(cuda.grid(1), len(x), unroll * step):
            for k in range(unroll):  # loads without a condition overlap
                items[k] = x[min(first + k * step, len(x) - 1)]
            for k in range(unroll):
                for element in range(x.dtype.itemsize // dtype.itemsize):
                    value = dtype.type(items[k] >> element * 8 * dtype.itemsize)
                    if first + k * step < len(x) and 0 <= value < bins:
                        if copies > 0:
                            cuda.atomic.add(shared, np.int32(value) * copies + rank % copies, 1)
                        else:
                            cuda.atomic.add(counts, value, 1)
        cuda.syncthreads()
        if copies > 0:
            for i in range(rank, bins, threads):
                total = np.uint32(0)
                for copy in range(copies):
                    total += shared[i * copies + (rank + copy) % copies]
                cuda.atomic.add(counts, i, total)

    return count_values


def histogram(a: Any, bins: int, out: Any = None, stream: object = None) -> Any:
    """Count the elements of each value from 0 to ``bins - 1``; others are not counted.

    Parameters
    ----------
    a : array
        An array of integers of one axis.
    bins : int
        The number of values; the kernel is compiled for each number.
    out : array
        The array of integers for the counts; by default a new one of int32, or of int64 for
        2**31 elements or more.
    stream : Stream or int
        The stream of the launches.

    Returns
    -------
    array
        The counts, ``out`` if it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.histogram(np.array([3, 1, 3, 5]), 4)
    array([0, 1, 0, 2], dtype=int32)
    """
    bins = operator.index(bins)
    if bins < 0:
        raise ValueError(f"bins is 0 or more, not {bins}")
    where, (x, counts) = place({"a": a}, {"out": out}, stream)
    check_vector(x, "a", kinds=INTEGRAL)
    size = x.shape[0]
    if counts is None:
        counts = where.empty((bins,), np.int32 if size < 2**31 else np.int64)
    check_vector(counts, "out", bins, INTEGERS)
    check_count_dtype(counts, "out", size)
    where.fill(counts, 0)
    if not size or not bins:
        return counts if out is None else out
    threads, blocks = (_THREADS, _MAX_BLOCKS) if where.is_gpu else (1, _MAX_BLOCKS_ON_CPU)
    launch = histogram_kernel(where.backend, threads, bins, x.dtype)
    in_words = size - size % (_WORD.itemsize // x.itemsize) if can_load_words(where, x) else 0
    parts = [x[:in_words].view(_WORD), x[in_words:]] if in_words else [x]
    for part in parts:
        if len(part):
            launch[min(-(-len(part) // threads), blocks), threads, stream](counts, part)
    return counts if out is None else out


def can_load_words(where: CallPlacement, x: Any) -> bool:
    """Return whether a GPU can load several elements of an array as an aligned word."""
    return where.is_gpu and x.strides == (x.itemsize,) and x.address % _WORD.itemsize == 0
