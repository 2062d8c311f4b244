"""The words of shadow memory, and the state of a thread: device functions in the kernel language.

A word describes an access. It has the number of the check site, from 1, and the fields that start
at the bits below. The epoch counts the barriers of the block, from 1, and the warp epoch the warp
operations and fences since then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

THREAD, ATOMIC, EPOCH, WARP_EPOCH, BLOCK, VALUE = 10, 20, 22, 32, 38, 54
READ_SHARED, READ_SHARED_IN_WARP = 21, 63  # whether several threads, or lanes of a warp, read it
MAX_SITE = MAX_THREAD = MAX_EPOCH = 1023
MAX_WARP_EPOCH = 63
MAX_BLOCKS = 1 << 16
UNKNOWN_VALUE = 511
UNWRITTEN = 1 << ATOMIC  # a result: there is no write; no word is equal to it
SITE_BITS = np.uint64(MAX_SITE)
BLOCK_BITS = np.uint64((MAX_BLOCKS - 1) << BLOCK)
EPOCH_BITS = np.uint64(MAX_EPOCH << EPOCH)
IDENTITY_BITS = BLOCK_BITS | np.uint64(MAX_THREAD << THREAD)
WARP_EPOCH_BITS = np.uint64(MAX_WARP_EPOCH << WARP_EPOCH)
TIME_BITS = IDENTITY_BITS | EPOCH_BITS | WARP_EPOCH_BITS
WARP_BITS = WARP_EPOCH_BITS | np.uint64(992 << THREAD)  # not the lane

CELL_WORDS = 2  # of an element: the last write and the last read
SYNC_CELL_WORDS = 4  # in kernels with the clocks of blocks, with the sync words

# ---- the state of a thread, a local array ----
(
    NOW,  # the thread, the block and the epochs, as in words of accesses
    IN_CONVERGED_WARP,  # whether an operation has synchronized the warp since the last barrier
    HAS_LANE_CLOCK,
    HAS_ACCESSED,  # whether it has plain accesses since the last fence
    BLOCK_FENCE,  # the release of the last fence
    DEVICE_FENCE,  # the same for fences of the device
    GRID_BARRIERS,  # how many it has passed
    CLUSTER_BARRIERS,
    BARRIERS,  # how many it has reached; this and the next five: see barrier_divergence
    SKIPPED,
    CONFIRMED,
    MISSED,
    SKIP_SITE,
    GRID_ARRIVALS,
    LANE_CLOCK,  # the first of four words: see lane_clocks
) = range(15)
LANE_CLOCK_WORDS = 4
STATE_SIZE = LANE_CLOCK + LANE_CLOCK_WORDS
SMALL_STATE_SIZE = HAS_LANE_CLOCK + 1  # of kernels that only record accesses


def thread_of(word: Any) -> Any:
    return word >> THREAD & MAX_THREAD


def block_of(word: Any) -> Any:
    return int(word >> BLOCK & (MAX_BLOCKS - 1))


def epoch_of(word: Any) -> Any:
    return word >> EPOCH & MAX_EPOCH


def warp_epoch_of(word: Any) -> Any:
    return word >> WARP_EPOCH & MAX_WARP_EPOCH


def advance_epoch(state: Any) -> Any:
    """Count a barrier of the block, up to the last epoch."""
    now = state[NOW] & ~WARP_EPOCH_BITS
    state[NOW] = now if now & EPOCH_BITS == EPOCH_BITS else now + np.uint64(1 << EPOCH)
    state[IN_CONVERGED_WARP] = 0
    return False


def advance_warp_epoch(state: Any) -> Any:
    """Count a warp operation or a fence, up to the last warp epoch."""
    if warp_epoch_of(state[NOW]) < MAX_WARP_EPOCH:
        state[NOW] += np.uint64(1 << WARP_EPOCH)
    return False


def record_warp_operation(state: Any) -> Any:
    """Record an operation that synchronizes the lanes of the warp."""
    advance_warp_epoch(state)
    state[IN_CONVERGED_WARP] = 1
    return False
