"""Histograms of the items of a block, in shared memory."""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.device_library.warp import block_threads, thread_rank
from pycu2c.kernels.kernel import device


@device
def histogram(counts: Any, items: Any) -> None:
    """Count the items of each value of a block.

    Parameters
    ----------
    counts : array
        Shared memory for the counts of the values 0 to ``len(counts) - 1``; it is overwritten.
    items : array
        The local array of the items of this thread, integers in that range.
    """
    for i in range(thread_rank(), len(counts), block_threads()):
        counts[i] = 0
    cuda.syncthreads()
    for i in range(len(items)):
        cuda.atomic.add(counts, items[i], 1)
    cuda.syncthreads()
