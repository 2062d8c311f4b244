"""Functions of neighboring items of a block: differences, and flags where runs begin."""

from __future__ import annotations

import operator
from typing import Any

from pycu2c import cuda
from pycu2c.device_library.warp import thread_rank
from pycu2c.kernels.kernel import device


@device
def _item_before(items: Any, threads: Any, first: Any) -> Any:
    """Return the last item of the previous thread; ``first`` at rank 0."""
    last = cuda.shared.array(threads, items.dtype)
    rank = thread_rank()
    last[rank] = items[len(items) - 1]
    cuda.syncthreads()
    before = last[rank - 1] if rank > 0 else first
    cuda.syncthreads()
    return before


@device
def adjacent_difference(items: Any, threads: Any, before: Any = 0, op: Any = operator.sub) -> None:
    """Replace each item by ``op(item, previous item)``.

    Parameters
    ----------
    items : array
        The local array of the items of this thread, in the blocked arrangement.
    threads : int
        The number of threads of the block, a constant.
    before : number, optional
        The item before the first one of the block.
    op : callable, optional
        A function of an item and the previous one.
    """
    previous = _item_before(items, threads, items.dtype.type(before))
    for i in range(len(items)):
        item = items[i]
        items[i] = op(item, previous)
        previous = item


@device
def flag_heads(flags: Any, items: Any, threads: Any, op: Any = operator.ne) -> None:
    """Set the flag of each item that differs from the previous one, and of the first item.

    Parameters
    ----------
    flags : array
        A local array for 1 or 0 of each item.
    items : array
        The local array of the items of this thread, in the blocked arrangement.
    threads : int
        The number of threads of the block, a constant.
    op : callable, optional
        Whether a run begins, a function of the previous item and an item.
    """
    previous = _item_before(items, threads, items[0])
    for i in range(len(items)):
        is_first = i == 0 and thread_rank() == 0
        flags[i] = 1 if is_first or op(previous, items[i]) else 0
        previous = items[i]
