"""Prefix sums over the threads of a block, with any associative operation.

Warps scan their values; the first warp scans the totals of the warps; each thread then combines the
prefix in its warp with the total of the warps before.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library import warp
from pycu2c.device_library.block.reduce import load_items, store_items, value_of
from pycu2c.device_library.warp import (
    ALL_LANES,
    WARP_SIZE,
    block_threads,
    thread_rank,
    warp_threads,
)
from pycu2c.kernels.kernel import device


@device
def scan_threads(value: Any, op: Any) -> Any:
    """Return the combined values of lower ranks, undefined at rank 0, and of all threads.

    A barrier must follow before the next call.
    """
    if isinstance(value, tuple):
        totals = tuple(cuda.shared.array(WARP_SIZE, np.result_type(item)) for item in value)
    else:
        totals = cuda.shared.array(WARP_SIZE, np.result_type(value))
    rank = thread_rank()
    warp_index = rank // WARP_SIZE
    warps = (block_threads() + WARP_SIZE - 1) // WARP_SIZE
    own = value_of(value)
    inclusive = warp.inclusive_scan(own, op)
    before = cuda.shfl_up_sync(ALL_LANES, inclusive, 1)
    if cuda.laneid == warp_threads() - 1:
        store_items(totals, warp_index, inclusive)
    cuda.syncthreads()
    if rank < WARP_SIZE:
        total = load_items(totals, rank) if rank < warps else own
        total = warp.inclusive_scan(total, op)
        if rank < warps:
            store_items(totals, rank, total)
    cuda.syncthreads()
    if warp_index > 0:
        of_warps = load_items(totals, warp_index - 1)
        before = op(of_warps, before) if cuda.laneid > 0 else of_warps
    return before, load_items(totals, warps - 1)


@device
def inclusive_scan(value: Any, op: Any = operator.add) -> Any:
    """Combine the values of the block up to this one, in the order of ranks.

    An array of items is replaced by its prefixes, and the total of the block is returned.

    Returns
    -------
    number, vector or tuple
        The prefix of a value; of an array, the total of the block.
    """
    if isinstance(value, np.ndarray):
        for i in range(1, len(value)):
            value[i] = op(value_of(value[i - 1]), value_of(value[i]))
        before, total = scan_threads(value[len(value) - 1], op)
        cuda.syncthreads()
        if thread_rank() > 0:
            for i in range(len(value)):
                value[i] = op(before, value_of(value[i]))
        return total
    before, _ = scan_threads(value, op)
    cuda.syncthreads()
    own = value_of(value)
    return op(before, own) if thread_rank() > 0 else own


@device
def exclusive_scan(value: Any, op: Any = operator.add, initial: Any = 0) -> Any:
    """Combine an initial value and the values of the block before this one, in the order of ranks.

    An array of items is replaced by its prefixes, and the total of the block is returned, without
    the initial value.

    Returns
    -------
    number, vector or tuple
        The prefix of a value; of an array, the total of the block.
    """
    if isinstance(value, np.ndarray):
        sum_of_items = value_of(value[0])
        for i in range(1, len(value)):
            sum_of_items = op(sum_of_items, value_of(value[i]))
        before, total = scan_threads(sum_of_items, op)
        cuda.syncthreads()
        if thread_rank() == 0:
            before = initial
        else:
            before = op(initial, before)
        for i in range(len(value)):
            item = value_of(value[i])
            value[i] = before
            before = op(before, item)
        return total
    before, _ = scan_threads(value, op)
    cuda.syncthreads()
    if thread_rank() == 0:
        before = initial
    else:
        before = op(initial, before)
    return before


document_parameters(
    globals(),
    """
value : number, vector, tuple, record or array | The value of this thread, or a local array of its
  items in the blocked arrangement.
op : callable | An associative operation, such as ``operator.add``, ``max``, or a device function.
initial : number, vector or tuple | The result of the first item, with which the others begin.
""",
)
