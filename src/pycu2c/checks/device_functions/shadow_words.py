"""The words of shadow memory, and the clock of a thread.

A word tells an access: the number of the check site from 1, and fields from these bits on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda

THREAD, ATOMIC, SEVERAL, EPOCH, WARP, BLOCK, VALUE, LANES = 10, 20, 21, 22, 32, 38, 54, 63
MAX_SITE = MAX_EPOCH = 1023
UNKNOWN_VALUE = 511
MAX_WARP = 63
MAX_BLOCKS = 1 << 16
UNWRITTEN = 1 << ATOMIC  # a result: there is no write; no word is equal to it
SITE_BITS = np.uint64(MAX_SITE)
BLOCK_BITS = np.uint64((MAX_BLOCKS - 1) << BLOCK)
EPOCH_BITS = np.uint64(MAX_EPOCH << EPOCH)
IDENTITY_BITS = BLOCK_BITS | np.uint64(1023 << THREAD)
OPERATION_BITS = np.uint64(MAX_WARP << WARP)
TIME_BITS = IDENTITY_BITS | EPOCH_BITS | OPERATION_BITS
WARP_BITS = OPERATION_BITS | np.uint64(992 << THREAD)  # not the lane

WORDS = 2  # of a cell: the write and the read
ORDERED_WORDS = 4  # in kernels with an order: see happens_before

# ---- the clock of a thread, a local array ----
(
    NOW,  # the thread, the block, and the time, as in words; the barriers of the block are from 1
    HAS_CONVERGED,  # operations of the warp since the last barrier
    BY_LANES,  # whether operations of some lanes are compared: see lane_clocks
    HAS_ACCESSED,  # plain accesses since the last fence
    FENCED,  # the release of the last fence: see happens_before
    FENCED_DEVICE,  # the same for fences of the device
    GRID_BARRIERS,
    CLUSTER_BARRIERS,
    BARRIERS,  # see barrier_memory
    SKIPPED,
    ARMED,
    MISSED,
    PLACE,
    IN_GRID,  # the barriers of the grid, and the site of the last one
    LANE_COUNTS,  # the first of four words
) = range(15)
LANE_WORDS = 4
SKIPPED_WORD = LANE_WORDS  # of a row of lane_clocks: the operations that the lane has gone past
ROW_WORDS = LANE_WORDS + 1
SMALL_CLOCK_SIZE, CLOCK_SIZE = 3, LANE_COUNTS + LANE_WORDS  # small: only with accesses of threads


def block_index() -> Any:
    """Return the linear index of the block."""
    layers = cuda.blockIdx.y + cuda.blockIdx.z * cuda.gridDim.y
    return cuda.blockIdx.x + layers * cuda.gridDim.x


def block_of_rank(rank: Any, sizes: Any) -> Any:
    """Return the linear index of a block of the cluster, which has these extents."""
    x = cuda.blockIdx.x - cuda.blockIdx.x % sizes[0] + rank % sizes[0]
    y = cuda.blockIdx.y - cuda.blockIdx.y % sizes[1] + rank // sizes[0] % sizes[1]
    z = cuda.blockIdx.z - cuda.blockIdx.z % sizes[2] + rank // (sizes[0] * sizes[1])
    return x + (y + z * cuda.gridDim.y) * cuda.gridDim.x


def epoch_of(clock: Any) -> Any:
    """Return how many barriers of the block the thread has passed."""
    return clock[NOW] >> EPOCH & MAX_EPOCH


def operations_of(clock: Any) -> Any:
    """Return how many operations of the warp, and fences, the thread has passed since then."""
    return clock[NOW] >> WARP & MAX_WARP


def count_operation(clock: Any) -> Any:
    """Count an operation of the warp, or a fence, up to the last count; return False."""
    if operations_of(clock) < MAX_WARP:
        clock[NOW] += np.uint64(1 << WARP)
    return False
