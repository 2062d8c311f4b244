"""Check the lanes of warp operations: device functions in the kernel language."""

from __future__ import annotations

from typing import Any

from pycu2c import cuda

WARP = 32
SHUFFLES = ("cuda.shfl_sync", "cuda.shfl_up_sync", "cuda.shfl_down_sync", "cuda.shfl_xor_sync")
BY_INDEX, UP, DOWN, XOR = range(4)


def names_lane(mask: Any) -> Any:
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


def absent_lane(mask: Any, shuffle: Any, operand: Any, width: Any, is_sum: Any) -> Any:
    """Return the lane that a shuffle reads from, if it does not take part; else -1.

    is_sum: whether the shuffle is of a sum over the lanes of the mask, of which only the first or
    last one has the result. As distances halve, lanes further from it than the distance do not
    matter.
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
    rows = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
    thread = cuda.threadIdx.x + rows * cuda.blockDim.x - cuda.laneid + source
    exists = thread < cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
    return -1 if exists and mask >> source & 1 != 0 else source
