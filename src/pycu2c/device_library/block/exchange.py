"""Movement of items: between memory and threads, and among the threads of a block.

``threads`` is the number of threads of the block, a constant; it determines shared memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.warp import block_threads, thread_rank
from pycu2c.kernels.kernel import device


@device
def load(items: Any, array: Any, start: Any = 0, fill: Any = None) -> None:
    """Load items in the blocked arrangement."""
    first = start + thread_rank() * len(items)
    for i in range(len(items)):
        if fill is None or first + i < len(array):
            items[i] = array[first + i]
        else:
            items[i] = fill


@device
def load_striped(items: Any, array: Any, start: Any = 0, fill: Any = None) -> None:
    """Load items in the striped arrangement: neighboring threads load neighboring elements."""
    _load_striped(items, array, block_threads(), start, fill)


@device
def load_transposed(items: Any, array: Any, threads: Any, start: Any = 0, fill: Any = None) -> None:
    """Load items coalesced, as ``load_striped``, then exchange them to the blocked arrangement."""
    _load_striped(items, array, threads, start, fill)
    striped_to_blocked(items, threads)


@device
def _load_striped(items: Any, array: Any, threads: Any, start: Any, fill: Any) -> None:
    first = start + thread_rank()
    if fill is None:
        for i in range(len(items)):
            items[i] = array[first + i * threads]
    else:
        left = _remaining(array, first, len(items) * threads)
        for i in range(len(items)):
            items[i] = array[first + i * threads] if i * threads < left else fill


@device
def _remaining(array: Any, first: Any, maximum: Any) -> Any:
    """Return the number of elements from an index on, at most ``maximum``."""
    return np.int32(min(len(array) - first, maximum))


@device
def store(array: Any, items: Any, start: Any = 0) -> None:
    """Store items in the blocked arrangement; those beyond the end of the array are dropped."""
    first = start + thread_rank() * len(items)
    for i in range(len(items)):
        if first + i < len(array):
            array[first + i] = items[i]


@device
def store_striped(array: Any, items: Any, start: Any = 0) -> None:
    """Store items in the striped arrangement; those beyond the end of the array are dropped."""
    _store_striped(array, items, block_threads(), start)


@device
def store_transposed(array: Any, items: Any, threads: Any, start: Any = 0) -> None:
    """Exchange blocked items to the striped arrangement, then store them coalesced."""
    blocked_to_striped(items, threads)
    _store_striped(array, items, threads, start)


@device
def _store_striped(array: Any, items: Any, threads: Any, start: Any) -> None:
    first = start + thread_rank()
    left = _remaining(array, first, len(items) * threads)
    for i in range(len(items)):
        if i * threads < left:
            array[first + i * threads] = items[i]


@device
def _slot(rank: Any, count: Any) -> Any:
    """Return the index in shared memory of the item of a rank.

    Threads then use different banks: if a thread has an even number of items, there is a gap after
    each 32.
    """
    return rank + (rank >> 5) if count % 2 == 0 else rank


@device
def _exchange(items: Any, ranks: Any, threads: Any, first: Any, stride: Any) -> None:
    """Move each item to its rank; then load those of the ranks ``first + i * stride``.

    All exchanges of one type are calls of this function, so that they use the same memory.
    """
    count = len(items)
    # with the gaps of _slot
    shared = cuda.shared.array(threads * count * (32 + (count + 1) % 2) // 32, items.dtype)
    for i in range(count):
        shared[_slot(ranks[i], count)] = items[i]
    cuda.syncthreads()
    for i in range(count):
        items[i] = shared[_slot(first + i * stride, count)]
    cuda.syncthreads()


@device
def blocked_to_striped(items: Any, threads: Any) -> None:
    """Exchange items from the blocked to the striped arrangement."""
    if threads > 1:
        rank = thread_rank()
        ranks = cuda.local.array(len(items), np.uint32)
        for i in range(len(items)):
            ranks[i] = rank * len(items) + i
        _exchange(items, ranks, threads, rank, threads)


@device
def striped_to_blocked(items: Any, threads: Any) -> None:
    """Exchange items from the striped to the blocked arrangement."""
    if threads > 1:
        rank = thread_rank()
        ranks = cuda.local.array(len(items), np.uint32)
        for i in range(len(items)):
            ranks[i] = rank + i * threads
        _exchange(items, ranks, threads, rank * len(items), 1)


@device
def scatter_to_blocked(items: Any, ranks: Any, threads: Any) -> None:
    """Move each item to a rank of the block; then load the items in the blocked arrangement."""
    _exchange(items, ranks, threads, thread_rank() * len(items), 1)


@device
def scatter_to_striped(items: Any, ranks: Any, threads: Any) -> None:
    """Move each item to a rank of the block; then load the items in the striped arrangement."""
    _exchange(items, ranks, threads, thread_rank(), threads)


@device
def shuffle(value: Any, source: Any, threads: Any) -> Any:
    """Return the value of another thread of the block.

    Returns
    -------
    number or vector
        The value of the other thread.
    """
    shared = cuda.shared.array(threads, np.result_type(value))
    shared[thread_rank()] = value
    cuda.syncthreads()
    result = shared[source] if 0 <= source < threads else value
    cuda.syncthreads()
    return result


document_parameters(
    globals(),
    """
items : array | The local array of the items of this thread.
load.items, load_striped.items, load_transposed.items : array | A local array for the items of this
  thread.
store_transposed.items : array | The local array of the items of this thread; it is striped
  afterwards.
array : array | The array to load from, of one axis.
store.array, store_striped.array, store_transposed.array : array | The array to store to, of one
  axis.
start : int | The index of the first item of the block.
fill : number | The value of items beyond the end of the array. Without it, all items must exist.
threads : int | The number of threads of the block, a constant.
ranks : array | A local array of the new rank of each item; the ranks of the block are a
  permutation.
value : number or vector | The value of this thread.
source : int | The rank of the thread whose value is returned; if the block has no such thread, that
  of this thread is.
""",
)
