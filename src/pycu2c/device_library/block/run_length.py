"""Run-length encoding of the items of a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.device_library.block.neighbors import flag_heads
from pycu2c.device_library.block.scan import exclusive_scan
from pycu2c.device_library.warp import block_threads, thread_rank
from pycu2c.kernels.kernel import device


@device
def run_length_encode(values: Any, lengths: Any, items: Any, threads: Any) -> Any:
    """Store the value and the length of each run of equal items; return the number of runs.

    Parameters
    ----------
    values, lengths : array
        Shared memory for as many elements as the block has items, if all items differ.
    items : array
        The local array of the items of this thread, in the blocked arrangement.
    threads : int
        The number of threads of the block, a constant.

    Returns
    -------
    int
        The number of runs, in all threads.
    """
    count, rank = len(items), thread_rank()
    runs = cuda.local.array(count, np.int32)
    heads = cuda.local.array(count, np.int32)
    flag_heads(heads, items, threads)
    for i in range(count):
        runs[i] = heads[i]
    number_of_runs = exclusive_scan(runs)
    starts = cuda.shared.array(threads * count, np.int32)
    for i in range(count):
        if heads[i]:
            values[runs[i]] = items[i]
            starts[runs[i]] = rank * count + i
    cuda.syncthreads()
    for i in range(rank, number_of_runs, block_threads()):
        end = starts[i + 1] if i + 1 < number_of_runs else threads * count
        lengths[i] = end - starts[i]
    cuda.syncthreads()
    return number_of_runs
