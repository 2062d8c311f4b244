"""Check the lanes of warp operations: device functions in the kernel language."""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.checks.device_functions.thread_indices import thread_count, thread_index

WARP = 32
SHUFFLES = ("cuda.shfl_sync", "cuda.shfl_up_sync", "cuda.shfl_down_sync", "cuda.shfl_xor_sync")
BY_INDEX, UP, DOWN, XOR = range(4)


def is_in_mask(mask: Any) -> Any:
    """Return whether a mask has the lane of the thread."""
    return mask >> cuda.laneid & 1 != 0


def source_lane(shuffle: Any, operand: Any, width: Any) -> Any:
    """Return the lane that a shuffle reads from, which is the thread's own beyond its segment."""
    lane = cuda.laneid
    if shuffle == BY_INDEX:
        return (lane & (0 - width)) | (operand & (width - 1))
    distance = operand & (WARP - 1)
    if shuffle == UP:
        return lane - distance if lane % width >= distance else lane
    if shuffle == DOWN:
        return lane + distance if lane % width + distance < width else lane
    return lane ^ distance if lane ^ distance <= lane | (width - 1) else lane


def absent_source(mask: Any, shuffle: Any, operand: Any, width: Any, is_sum: Any) -> Any:
    """Return the lane that a shuffle reads from, if it does not take part; else -1.

    is_sum: whether the shuffle is of a sum over the lanes of the mask, of which only the first or
    last one has the result. The distances halve, so lanes that are as far from it do not matter.
    """
    if width != 2 and width != 4 and width != 8 and width != 16 and width != 32:
        return -1
    lane = cuda.laneid
    inside = mask & ((1 << width) - 1) << (lane & (0 - width))
    if is_sum and shuffle == DOWN and lane - cuda.ffs(inside) + 1 >= operand & (WARP - 1):
        return -1
    if is_sum and shuffle == UP and 63 - cuda.clz(inside) - lane >= operand & (WARP - 1):
        return -1
    source = source_lane(shuffle, operand, width)
    exists = thread_index() - lane + source < thread_count()
    return -1 if exists and mask >> source & 1 != 0 else source
