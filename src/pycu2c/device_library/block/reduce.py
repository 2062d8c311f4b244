"""Reductions over the threads of a block: warps reduce, then one warp reduces their results."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.warp import (
    WARP_SIZE,
    block_threads,
    reduce_lanes,
    thread_rank,
)
from pycu2c.kernels.kernel import device


@device
def value_of(item: Any) -> Any:
    """Return a value; a record as the named tuple of its fields."""
    return item.copy() if isinstance(item, np.void) else item


@device
def store_items(arrays: Any, index: Any, value: Any) -> None:
    """Store a value, or the items of a tuple in one array each."""
    if isinstance(arrays, tuple):
        for array, item in zip(arrays, value):
            array[index] = item
    else:
        arrays[index] = value


@device
def load_items(arrays: Any, index: Any) -> Any:
    """Load a value, or a tuple from one array for each item."""
    if isinstance(arrays, tuple):
        return tuple(array[index] for array in arrays)
    if isinstance(arrays[index], np.void):
        return arrays[index].copy()
    return arrays[index]


@device
def combine_items(items: Any, op: Any) -> Any:
    """Combine the elements of a local array."""
    value = value_of(items[0])
    for i in range(1, len(items)):
        value = op(value, value_of(items[i]))
    return value


@device
def reduce_warps(value: Any, op: Any, of_warps: Any, count: Any) -> Any:
    """Combine the values of the first ``count`` threads; the thread of rank 0 has the result.

    ``of_warps`` is shared memory for the result of each warp. A barrier must follow before the
    memory is used again.
    """
    rank = thread_rank()
    lanes = min(WARP_SIZE, count - rank // WARP_SIZE * WARP_SIZE)
    own = value.copy() if isinstance(value, np.void) else value
    result = reduce_lanes(own, op, lanes)
    if cuda.laneid == 0:
        store_items(of_warps, rank // WARP_SIZE, result)
    cuda.syncthreads()
    if rank < WARP_SIZE:
        warps = (count + WARP_SIZE - 1) // WARP_SIZE
        if rank < warps:
            result = load_items(of_warps, rank)
        result = reduce_lanes(result, op, warps)
    return result


@device
def reduce(value: Any, op: Any = operator.add, count: Any = None) -> Any:
    """Combine the values of a block in the order of ranks; the thread of rank 0 has the result.

    Returns
    -------
    number, vector or tuple
        The combined value at rank 0; a part of it elsewhere.
    """
    combined = combine_items(value, op) if isinstance(value, np.ndarray) else value
    if isinstance(combined, tuple):
        of_warps = tuple(cuda.shared.array(WARP_SIZE, np.result_type(x)) for x in combined)
    else:
        of_warps = cuda.shared.array(WARP_SIZE, np.result_type(combined))
    result = reduce_warps(combined, op, of_warps, block_threads() if count is None else count)
    cuda.syncthreads()
    return result


@device
def all_reduce(value: Any, op: Any = operator.add) -> Any:
    """Combine the values of a block in the order of ranks; all threads have the result.

    Returns
    -------
    number, vector or tuple
        The combined value.
    """
    combined = combine_items(value, op) if isinstance(value, np.ndarray) else value
    if isinstance(combined, tuple):
        of_warps = tuple(cuda.shared.array(WARP_SIZE, np.result_type(x)) for x in combined)
    else:
        of_warps = cuda.shared.array(WARP_SIZE, np.result_type(combined))
    result = reduce_warps(combined, op, of_warps, block_threads())
    if thread_rank() == 0:
        store_items(of_warps, 0, result)
    cuda.syncthreads()
    result = load_items(of_warps, 0)
    cuda.syncthreads()
    return result


@device
def broadcast(value: Any, source: Any = 0) -> Any:
    """Return the value of one thread in all threads.

    Returns
    -------
    number, vector or tuple
        The value of the thread ``source``.
    """
    if isinstance(value, tuple):
        shared = tuple(cuda.shared.array(1, np.result_type(item)) for item in value)
    else:
        shared = cuda.shared.array(1, np.result_type(value))
    if thread_rank() == source:
        store_items(shared, 0, value_of(value))
    cuda.syncthreads()
    result = load_items(shared, 0)
    cuda.syncthreads()
    return result


document_parameters(
    globals(),
    """
value : number, vector, tuple, record or array | The value of this thread, or a local array of its
  items in the blocked arrangement.
broadcast.value : number, vector or tuple | The value of this thread.
op : callable | An associative operation, such as ``operator.add``, ``min``, or a device function.
count : int | The number of threads whose values are combined, the first ones; by default all.
source : int | The rank of the thread whose value is returned.
""",
)
