"""Stable merge sort of the items of a block by any comparison.

Each thread sorts its items; runs in shared memory are then merged in pairs. Each thread merges as
many items as it has, from the point where the merge path crosses its diagonal (Green, McColl and
Bader, "GPU merge path", 2012).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.device_library.warp import thread_rank
from pycu2c.kernels.kernel import device


@device
def _sort_items(keys: Any, sources: Any, is_before: Any) -> None:
    """Sort the items of a thread by odd-even transposition."""
    for i in range(len(keys)):
        for j in range(i % 2, len(keys) - 1, 2):
            if is_before(keys[j + 1], keys[j]):
                keys[j], keys[j + 1] = keys[j + 1], keys[j]
                sources[j], sources[j + 1] = sources[j + 1], sources[j]


@device
def _merge_path(keys: Any, a: Any, b: Any, diagonal: Any, is_before: Any) -> Any:
    """Return how many of the first ``diagonal`` merged items come from the first run.

    ``a`` and ``b`` are the first index and the length of each run.
    """
    low, high = max(0, diagonal - b[1]), min(diagonal, a[1])
    while low < high:
        middle = (low + high) // 2
        other = np.uint32(b[0] + diagonal - 1 - middle)
        if is_before(keys[other], keys[a[0] + middle]):
            high = middle
        else:
            low = middle + 1
    return low


@device
def merge_sort(keys: Any, threads: Any, values: Any = None, is_before: Any = operator.lt) -> None:
    """Sort the keys of a block, stably.

    Parameters
    ----------
    keys : array
        The local array of the keys of this thread, in the blocked arrangement.
    threads : int
        The number of threads of the block, a constant.
    values : array, optional
        A local array of a value of each key, which moves with it.
    is_before : callable, optional
        A function of two keys: whether the first comes before the second.
    """
    count = len(keys)
    total = threads * count
    rank = thread_rank()
    shared = cuda.shared.array(threads * count, keys.dtype)
    sources = cuda.local.array(count, np.uint32)
    for i in range(count):
        sources[i] = rank * count + i
    _sort_items(keys, sources, is_before)
    if values is not None:
        _gather(values, sources, threads)
    width = np.int32(1)  # threads whose items are one sorted run
    while width < threads:
        for i in range(count):
            shared[rank * count + i] = keys[i]
        cuda.syncthreads()
        first = (rank & -2 * width) * count
        a = first, min(width * count, total - first)
        b = first + a[1], min(width * count, total - first - a[1])
        diagonal = rank * count - first
        taken = _merge_path(shared, a, b, diagonal, is_before)
        left, right = np.uint32(a[0] + taken), np.uint32(b[0] + diagonal - taken)
        left_end, right_end = np.uint32(b[0]), np.uint32(b[0] + b[1])
        left_key, right_key = shared[min(left, total - 1)], shared[min(right, total - 1)]
        for i in range(count):
            is_left = bool(left < left_end)
            if is_left and right < right_end:
                is_left = bool(not is_before(right_key, left_key))
            sources[i] = left if is_left else right
            keys[i] = left_key if is_left else right_key
            following = sources[i] + 1
            key = shared[min(following, total - 1)]
            if is_left:
                left, left_key = following, key
            else:
                right, right_key = following, key
        cuda.syncthreads()
        if values is not None:
            _gather(values, sources, threads)
        width *= 2


@device
def _gather(values: Any, sources: Any, threads: Any) -> None:
    """Replace each value by that of the item at a rank of the block."""
    count = len(values)
    shared = cuda.shared.array(threads * count, values.dtype)
    for i in range(count):
        shared[thread_rank() * count + i] = values[i]
    cuda.syncthreads()
    for i in range(count):
        values[i] = shared[sources[i]]
    cuda.syncthreads()
