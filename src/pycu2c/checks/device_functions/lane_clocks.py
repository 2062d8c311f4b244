"""Vector clocks of lanes: device functions in the kernel language.

They order accesses by warp operations of some lanes. A lane has a vector clock, a row of four words
of eight bytes: for each lane of its warp, how many warp operations that one had passed when the two
last synchronized, directly or through others. Before an operation, its lanes vote, and the first
one joins their rows in memory; after the operation, each lane copies its row to its state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.checks.device_functions.shadow_words import (
    CONFIRMED,
    HAS_LANE_CLOCK,
    LANE_CLOCK,
    LANE_CLOCK_WORDS,
    MAX_WARP_EPOCH,
    NOW,
    SKIPPED,
    record_warp_operation,
    thread_of,
)

SKIPS = LANE_CLOCK_WORDS  # the word of a row with the operations that the lane has skipped
ROW_WORDS = LANE_CLOCK_WORDS + 1
_HIGH = 0x4040404040404040  # above the largest count in each byte


def start_lane_clock(rows: Any, state: Any) -> Any:
    """Let the thread compare its accesses with those of its warp by lanes."""
    state[HAS_LANE_CLOCK] = 1
    return reset_lane_clock(rows, state)


def reset_lane_clock(rows: Any, state: Any) -> Any:
    """Count from 0, at the start and after a barrier of the block."""
    thread = int(thread_of(state[NOW]))
    for word in range(LANE_CLOCK_WORDS):
        state[LANE_CLOCK + word] = 0
        rows[thread, word] = 0
    rows[thread, thread % 32 // 8] = np.uint64(1) << thread % 8 * 8
    return False


def join_lane_clocks(rows: Any, state: Any, mask: Any) -> Any:
    """Join the rows of the lanes of an operation, in its first lane.

    All lanes have arrived; the others wait at the operation.
    """
    lane = int(thread_of(state[NOW])) % 32
    first = int(thread_of(state[NOW])) - lane
    cuda.threadfence_block()
    count = min(32, len(rows) - first) if mask & ((1 << lane) - 1) == 0 else 0
    for other in range(count):
        if mask >> other & 1 != 0:
            for word in range(LANE_CLOCK_WORDS):
                known = state[LANE_CLOCK + word]
                state[LANE_CLOCK + word] = bytewise_max(known, rows[first + other, word])
    for other in range(count):
        if mask >> other & 1 != 0:
            for word in range(LANE_CLOCK_WORDS):
                rows[first + other, word] = state[LANE_CLOCK + word]
            if rows[first + other, other // 8] >> other % 8 * 8 & MAX_WARP_EPOCH != MAX_WARP_EPOCH:
                rows[first + other, other // 8] += np.uint64(1) << other % 8 * 8
    cuda.threadfence_block()
    return False


def bytewise_max(a: Any, b: Any) -> Any:
    """Return the larger one of each two bytes."""
    is_larger = ((a | _HIGH) - b) & _HIGH
    from_a = is_larger - (is_larger >> 6)
    return (a & from_a) | (b & ~from_a)


def copy_lane_clock(rows: Any, state: Any) -> Any:
    """Count an operation of lanes, after their rows have been joined."""
    for word in range(LANE_CLOCK_WORDS):
        state[LANE_CLOCK + word] = rows[int(thread_of(state[NOW])), word]
    return record_warp_operation(state)


def store_skips(rows: Any, state: Any, bits: Any) -> Any:
    """Store which operations of the warp the thread, which ends, has skipped before an effect."""
    rows[int(thread_of(state[NOW])), SKIPS] = state[CONFIRMED] & bits
    cuda.threadfence_block()
    return False


def clear_skips(state: Any, bits: Any) -> Any:
    """Record that the thread executes an operation of the warp."""
    state[SKIPPED] &= ~bits
    state[CONFIRMED] &= ~bits
    return False


def skipping_lane(rows: Any, state: Any, mask: Any, present: Any, bit: Any) -> Any:
    """Return a lane of the mask that has skipped an operation, and has ended; else -1."""
    first = int(thread_of(state[NOW])) // 32 * 32
    result = -1
    for lane in range(min(32, len(rows) - first)):
        is_absent = mask >> lane & 1 != 0 and present >> lane & 1 == 0
        if is_absent and rows[first + lane, SKIPS] & bit != 0:
            result = lane
    return result


def release_at_exit(rows: Any, state: Any) -> Any:
    """Order all accesses of the thread, which ends, before later operations that name its lane."""
    thread = int(thread_of(state[NOW]))
    rows[thread, thread % 32 // 8] |= np.uint64(MAX_WARP_EPOCH) << thread % 8 * 8
    cuda.threadfence_block()
    return False
